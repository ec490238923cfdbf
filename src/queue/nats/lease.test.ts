/** Epochs increase even if the bucket of the leases is created again or restored. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { toEpoch } from './lease.ts';

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
