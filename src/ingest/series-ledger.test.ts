/** The ledger of series and its limit per account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { BatchOwner } from '../model/batch.ts';
import { seriesState } from '../model/series-view.ts';
import { createSeriesLedger } from './series-ledger.ts';

const { known, pending, new: unknown, refused } = seriesState;
const dayMs = 86_400_000;
const owner = (accountId: string, streamId = accountId): BatchOwner => ({
  accountId,
  streamId,
  receiverId: 'r',
});
const idsOf = (series: number) => Uint32Array.from([0, series, 0, 0]);

function open(maxSeriesPerAccount = 1000) {
  const ledger = createSeriesLedger({ maxSeriesPerAccount });
  const claim = (of: BatchOwner, nowMs = 0) => {
    const claimed = ledger.claim(of, nowMs);
    return { ...claimed, look: (series: number, day = 0) => claimed.look(idsOf(series), 0, day) };
  };
  return { ...ledger, claim };
}

test('distinguishes labels in the current batch from durable ones', () => {
  const ledger = open();
  const first = ledger.claim(owner('a'));
  const beside = ledger.claim(owner('a'));
  assert.deepEqual([first.look(1), first.look(1)], [unknown, pending]);
  assert.equal(beside.look(1), unknown, 'the first batch may still fail');
  assert.equal(ledger.claim(owner('a')).look(1), unknown);
  first.confirm();
  assert.equal(ledger.claim(owner('a')).look(1), known);
  assert.equal(ledger.claim(owner('b')).look(1), unknown);
  assert.equal(ledger.claim(owner('a', 'other')).look(1), unknown);
  assert.equal(ledger.size(), 1);
});

test('a claim expires when the clock jumps beyond the retention of labels', () => {
  const claim = open().claim(owner('a'), dayMs);
  const hourMs = dayMs / 24;
  const later = [0, hourMs - 1, hourMs, 30 * dayMs, -30 * dayMs];
  assert.deepEqual(
    later.map((byMs) => claim.isCurrent(dayMs + byMs)),
    [true, true, false, false, true],
  );
});

test('requires labels again for another day of samples and after midnight', () => {
  const ledger = open();
  const first = ledger.claim(owner('a'));
  first.look(1, 5);
  first.confirm();
  const second = ledger.claim(owner('a'), dayMs - 1);
  assert.deepEqual(
    [second.look(1, 5), second.look(1, 6), second.look(1, 6)],
    [known, unknown, pending],
  );
  assert.equal(ledger.claim(owner('a'), dayMs).look(1, 5), unknown);
});

test('refuses a new series beyond the limit but not a known one', () => {
  const ledger = open(2);
  const first = ledger.claim(owner('a'));
  assert.equal(first.maxSeries, 2);
  assert.deepEqual(
    [1, 2, 3, 1].map((series) => first.look(series)),
    [unknown, unknown, refused, pending],
  );
  first.confirm();
  const second = ledger.claim(owner('a', 'other stream'));
  assert.equal(second.look(1), refused);
  const third = ledger.claim(owner('a'));
  assert.deepEqual(
    [3, 1, 2].map((series) => third.look(series)),
    [refused, known, known],
  );
  assert.equal(ledger.claim(owner('b')).look(1), unknown);
});

test('counts a series with samples on two days once', () => {
  const ledger = open(3);
  const first = ledger.claim(owner('a'));
  for (const series of [1, 2]) first.look(series, 5);
  first.confirm();
  const second = ledger.claim(owner('a'));
  assert.deepEqual(
    [1, 2].map((series) => second.look(series, 6)),
    [unknown, unknown],
  );
  assert.deepEqual(
    [3, 4].map((series) => second.look(series, 6)),
    [unknown, refused],
  );
  second.confirm();
  assert.equal(ledger.claim(owner('a')).look(4, 6), refused);
});

test('invalidates claims in flight when it forgets', () => {
  const ledger = open(1);
  const first = ledger.claim(owner('a'));
  first.look(1);
  first.confirm();
  const underWay = ledger.claim(owner('a'));
  assert.ok(underWay.isCurrent(0));
  ledger.forget();
  assert.ok(!underWay.isCurrent(0));
  const later = ledger.claim(owner('a'));
  assert.ok(later.isCurrent(0));
  assert.equal(later.look(1), unknown);
  assert.equal(ledger.size(), 0);
});

test('agrees with a map for concurrent claims', () => {
  const maxSeries = 6;
  const look = fc.record({ series: fc.nat(9), day: fc.nat(1) });
  const request = fc.record({
    account: fc.constantFrom('a', 'b'),
    stream: fc.constantFrom('1', '2'),
    looks: fc.array(look, { maxLength: 12 }),
    end: fc.constantFrom('confirm', 'fail', 'forget'),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
      const ledger = open(maxSeries);
      let durable = new Map<string, number>();
      const ofAccount = (account: string) =>
        [...durable.keys()].filter((key) => key.startsWith(account)).length;
      for (const { account, stream, looks, end } of requests) {
        const claim = ledger.claim(owner(account, account + stream));
        const own = new Map<string, number>();
        for (const { series, day } of looks) {
          const key = `${account}${stream}:${series}`;
          const isThere = durable.has(key) || own.has(key);
          const more = [...own.keys()].filter((one) => !durable.has(one)).length;
          const stored = durable.get(key) === day ? known : undefined;
          const present = stored ?? (own.get(key) === day ? pending : undefined);
          const isFull = !isThere && ofAccount(account) + more >= maxSeries;
          assert.equal(claim.look(series, day), present ?? (isFull ? refused : unknown));
          if (present === undefined && !isFull) own.set(key, day);
        }
        if (end === 'confirm') {
          claim.confirm();
          for (const [key, day] of own) durable.set(key, day);
        } else if (end === 'forget') {
          ledger.forget();
          durable = new Map();
        }
        assert.equal(ledger.size(), durable.size);
      }
    }),
  );
});

test('a second ledger of the process has scopes of its own', () => {
  const scopes = [1, 2].map(() => {
    const ledger = createSeriesLedger({ maxSeriesPerAccount: 10 });
    return ledger.claim({ accountId: 'a', streamId: 's', receiverId: 'r' }, 0).scope;
  });
  assert.notEqual(scopes[0], scopes[1]);
});
