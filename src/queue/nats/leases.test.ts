/** The balance of shards between writers, when a lease has expired, and epochs. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { decodeLease, encodeLease, LeaseBoard, toEpoch } from './leases.ts';

const leaseMs = 10_000;

function entry(revision: number, holder: string) {
  return { revision, value: { holder, epoch: '1', watermarkNanos: '0' } };
}

test('a shard is free once it was read and has no holder', () => {
  const board = new LeaseBoard('me', 2, leaseMs);
  assert.equal(board.isFree(0, 0), false);
  board.seeShard(0, undefined, 0);
  assert.equal(board.isFree(0, 0), true);
  board.seeShard(0, entry(5, ''), 0);
  assert.equal(board.isFree(0, 0), true);
  assert.equal(board.shard(0).revision, 5);
});

test('a shard of another writer is free a lease after its last change', () => {
  const board = new LeaseBoard('me', 1, leaseMs);
  board.seeShard(0, entry(5, 'other'), 100);
  board.seeShard(0, entry(5, 'other'), 6000);
  assert.equal(board.isFree(0, 10_099), false);
  assert.equal(board.isFree(0, 10_100), true);
  board.seeShard(0, entry(6, 'other'), 10_100);
  assert.equal(board.isFree(0, 20_099), false);
});

test("a writer's own lease without work is free at once", () => {
  const board = new LeaseBoard('me', 1, leaseMs);
  board.seeShard(0, entry(5, 'me'), 100);
  assert.equal(board.isFree(0, 100), true);
});

test('writers share all shards, differing by one at most', () => {
  const ids = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(ids, fc.integer({ min: 1, max: 40 }), (writers, shards) => {
      const shares = writers.map((me) => {
        const board = new LeaseBoard(me, shards, leaseMs);
        for (const id of writers) board.seeWriter(id, 1, 0);
        return board.share(1);
      });
      assert.equal(
        shares.reduce((sum, share) => sum + share, 0),
        shards,
      );
      assert.ok(Math.max(...shares) - Math.min(...shares) <= 1);
    }),
  );
});

test('a writer that left or is silent for a lease has no share, and is removed later', () => {
  const board = new LeaseBoard('me', 4, leaseMs);
  board.seeWriter('other', 1, 0);
  assert.equal(board.share(9999), 2);
  assert.equal(board.share(10_000), 4);
  board.seeWriter('other', 2, 10_000);
  assert.equal(board.share(10_000), 2);
  assert.deepEqual(board.forgottenWriters(59_999), []);
  assert.deepEqual(board.forgottenWriters(60_000), ['other']);
  board.seeWriter('other', undefined, 10_001);
  assert.equal(board.share(10_001), 4);
});

test('a lease survives encoding; any other value counts as released', () => {
  const value = { holder: 'me', epoch: '7', watermarkNanos: '123' };
  assert.deepEqual(decodeLease(encodeLease(value)), value);
  const nobody = { holder: '', epoch: '0', watermarkNanos: '0' };
  for (const text of ['', 'here', '{}', 'null', '{"holder":1}', '[]']) {
    assert.deepEqual(decodeLease(Buffer.from(text)), nobody, text);
  }
});

const noon = '2026-01-01T12:00:00Z';
const seconds = BigInt(Date.parse(noon) / 1000) << 32n;

const bucketOf = (created: string, lastAt: string) => ({ created, state: { last_ts: lastAt } });

suite('the epoch of a holder', () => {
  const used = bucketOf('2026-01-01T00:00:00Z', noon);

  test('consists of the time and the revision of the lease', () => {
    assert.equal(toEpoch([], used, 7), seconds + 7n);
    assert.equal(toEpoch([seconds + 7n], used, 9), seconds + 9n);
    assert.equal(toEpoch([], bucketOf(noon, '0001-01-01T00:00:00Z'), 1), seconds + 1n);
  });

  test('is higher than all earlier ones even if the bucket was restored', () => {
    const told = seconds + 500n;
    const cases = [
      ['clock of NATS', bucketOf('2025-01-01T00:00:00Z', '2025-06-01T00:00:00Z'), 900],
      ['both', bucketOf('2025-01-01T00:00:00Z', '2025-06-01T00:00:00Z'), 3],
      ['revision within the second', used, 3],
      ['nothing but the holder', used, 500],
    ] as const;
    for (const [what, bucket, revision] of cases) {
      const epoch = toEpoch([told, 5n], bucket, revision);
      assert.ok(epoch > told, what);
      assert.equal(epoch & 0xffff_ffffn, BigInt(revision), what);
    }
  });
});
