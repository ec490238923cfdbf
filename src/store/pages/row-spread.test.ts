/** Spreads are cached, refreshed in the background, and do without the store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createRowSpreads } from './row-spread.ts';
import type { GranuleRow } from '../sql/row-spread.ts';

const placement = { database: 'weir', cluster: undefined };
const rows: GranuleRow[] = [
  ['b', '3000', '5'],
  ['a', '2000', '7'],
  ['a', '1000', '9'],
];

function fakeStore() {
  const pending: PromiseWithResolvers<GranuleRow[]>[] = [];
  const connection = {
    read<Row>() {
      const answer = Promise.withResolvers<GranuleRow[]>();
      pending.push(answer);
      return answer.promise as Promise<unknown> as Promise<Row[]>;
    },
  };
  return { connection, pending };
}

test('a spread holds the granules of the streams that are read', async () => {
  const { connection, pending } = fakeStore();
  const spreads = createRowSpreads(connection, placement);
  const spread = spreads.of('account', ['a']);
  pending[0]!.resolve(rows);
  assert.deepEqual(await spread, {
    isComplete: true,
    granules: [
      { streamId: 'a', fromNanos: 2000n, rows: 7 },
      { streamId: 'a', fromNanos: 1000n, rows: 9 },
    ],
  });
});

test('only the first read of an account waits for the store', async () => {
  let nowMs = 0;
  const { connection, pending } = fakeStore();
  const spreads = createRowSpreads(connection, placement, () => nowMs);
  const first = spreads.of('account', ['a', 'b']);
  pending[0]!.resolve(rows);
  assert.equal((await first)?.granules.length, 3);
  nowMs = 9_999;
  await spreads.of('account', ['a']);
  assert.equal(pending.length, 1);
  nowMs = 10_000;
  assert.equal((await spreads.of('account', ['b']))?.granules.length, 1);
  assert.equal(pending.length, 2);
  pending[1]!.resolve([]);
  await setImmediate();
  assert.deepEqual(await spreads.of('account', ['b']), { isComplete: true, granules: [] });
});

test('a store that fails to tell leaves the spread unknown', async () => {
  const { connection, pending } = fakeStore();
  const spreads = createRowSpreads(connection, placement);
  const spread = spreads.of('account', ['a']);
  pending[0]!.reject(new Error('away'));
  assert.equal(await spread, undefined);
});
