/** Rows that tails with different filters share, over reads that are counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrivalsUntil, type ArrivalsPlan } from '../../model/arrival.ts';
import type { LogFilter } from '../../model/plan.ts';
import { stampedBatch } from '../../../test/store/log-row-fixture.ts';
import { everyLog } from '../../../test/store/read-oracle.ts';
import type { ArrivalRow } from '../sql/list-logs.ts';
import { packBatch } from './packed-rows.ts';
import { createArrivedRows } from './arrived-rows.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

function rowsOf(bodies: readonly string[]): ArrivalRow[] {
  const logs = bodies.map((body) => ({ body }));
  const batch = stampedBatch(logs, {
    owner,
    receivedAtNanos: 5n,
    id: { writer: 1n, sequence: 1n },
  });
  return packBatch(batch).map((one, at) => ['1', at, ...one.row()]);
}

function openArrived(stored: readonly ArrivalRow[]) {
  const asked: ArrivalsPlan[] = [];
  const state = { failure: undefined as Error | undefined };
  const shared = createArrivedRows(async (plan) => {
    asked.push(plan);
    if (state.failure !== undefined) throw state.failure;
    return stored.slice(0, plan.limit);
  });
  const find = async (plan: ArrivalsPlan) => {
    const found = await shared(plan);
    return found && { ...found, rows: found.rows.map((row) => row[10]) };
  };
  return { asked, state, find };
}

function planOf(text: string, change: Partial<ArrivalsPlan> = {}): ArrivalsPlan {
  const filter: LogFilter = {
    ...everyLog(owner.accountId, [owner.streamId]),
    search: [{ text, exclude: false }],
  };
  const plan = { filter, after: arrivalsUntil(1n), untilNanos: 9n, limit: 10, maxBytes: 2 ** 20 };
  return { ...plan, ...change };
}

test('the first filter of a range has its own statement, all others share one', async () => {
  const { asked, find } = openArrived(rowsOf(['one two', 'two', 'three']));
  assert.equal(await find(planOf('one')), undefined);
  const [two, three, none] = await Promise.all(
    ['TWO', 'three', 'four'].map((t) => find(planOf(t))),
  );
  assert.deepEqual(two, { rows: ['one two', 'two'], isComplete: true });
  assert.deepEqual(three, { rows: ['three'], isComplete: true });
  assert.deepEqual(none, { rows: [], isComplete: true });
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0]!.filter.search, []);
});

test('the first tail of another range has its own statement', async () => {
  const { asked, find } = openArrived(rowsOf(['a']));
  await find(planOf('a'));
  await find(planOf('b'));
  const others = [{ untilNanos: 10n }, { after: arrivalsUntil(2n) }];
  for (const change of others) assert.equal(await find(planOf('b', change)), undefined);
  const { filter } = planOf('b');
  const hidden = [{ streamId: owner.streamId, receivedFromNanos: 3n }];
  assert.equal(await find(planOf('b', { filter: { ...filter, streams: hidden } })), undefined);
  assert.equal(asked.length, 1);
});

test('a page ends at its limit of logs or bytes', async () => {
  const { find } = openArrived(rowsOf(['x1', 'x2', 'x3']));
  await find(planOf('x'));
  const few = await find(planOf('x', { limit: 2 }));
  assert.deepEqual(few, { rows: ['x1', 'x2'], isComplete: false });
  assert.equal((await find(planOf('x', { limit: 3 })))?.isComplete, true);
  const small = await find(planOf('x', { maxBytes: 1 }));
  assert.deepEqual(small, { rows: ['x1'], isComplete: false });
});

test('too many rows, long ranges, times of events and conditions are read alone', async () => {
  const { asked, find } = openArrived(rowsOf(Array.from({ length: 501 }, () => 'x')));
  for (let i = 0; i < 4; i++) assert.equal(await find(planOf(`x${i}`)), undefined);
  assert.equal(asked.length, 1, 'tried once');
  const { filter } = planOf('x');
  const conditions = [{ kind: 'stream' as const, streamIds: [] }];
  for (const change of [{ fromNanos: 1n }, { untilNanos: 1n }, { conditions }]) {
    for (let i = 0; i < 2; i++) {
      assert.equal(await find(planOf('x', { filter: { ...filter, ...change } })), undefined);
    }
  }
  for (let i = 0; i < 2; i++) {
    assert.equal(await find(planOf('x', { untilNanos: 10_000_000_002n })), undefined);
  }
  assert.equal(asked.length, 1);
});

test('a failed read is not kept', async () => {
  const { state, find } = openArrived(rowsOf(['x']));
  await find(planOf('x'));
  state.failure = new Error('lost');
  await assert.rejects(find(planOf('x')), /lost/);
  state.failure = undefined;
  assert.equal(await find(planOf('x')), undefined);
  assert.deepEqual((await find(planOf('x')))?.rows, ['x']);
});
