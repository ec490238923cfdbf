/** The newest logs in memory, over a store whose answers come when the test says. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import type { ListPlan } from '../../model/plan.ts';
import { stampedBatch } from '../../../test/store/log-row-fixture.ts';
import { everyLog } from '../../../test/store/read-oracle.ts';
import type { LogRow } from '../sql/log-record.ts';
import { toLogRows } from './batch-rows.ts';
import { createRecentLogs } from './recent-logs.ts';
import type { ListParts } from './read-page.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

const plan: ListPlan = {
  filter: everyLog(owner.accountId, [owner.streamId]),
  limit: 2,
  direction: 'older',
  position: undefined,
  untilWatermarkNanos: undefined,
};

/** Logs at these seconds. */
const batchAt = (sequence: bigint, ...seconds: bigint[]) =>
  stampedBatch(
    seconds.map((second) => ({ timestamp: second, body: String(second) })),
    { owner, receivedAtNanos: 1n, id: { writer: 1n, sequence } },
  );

test('the newest page does not wait for the rest, to which logs are added meanwhile', async () => {
  const stored = toLogRows(batchAt(1n, 90n, 80n, 70n, 60n));
  const asked: { limit: number; answer: (rows: readonly LogRow[]) => void }[] = [];
  const parts = {
    connection: {
      read: ({ sql }: { sql: string }) =>
        new Promise((answer) => {
          asked.push({ limit: Number(/LIMIT (\d+)/.exec(sql)![1]), answer });
        }),
    },
    database: 'weir',
    limits: { maxSeconds: 20, maxMemoryBytes: 2 ** 29, maxRowsRead: 1e9, maxRowsReturned: 1e5 },
    spreads: { of: async () => ({ isComplete: true, granules: [] }) },
  } as unknown as ListParts;
  const recent = createRecentLogs(parts, { maxRows: 40, now: Date.now });
  const bodies = (limit: number) => recent.list({ ...plan, limit })?.map((row) => row[8]);

  recent.follow(plan);
  await turn();
  assert.equal(asked.at(-1)!.limit, 2);
  asked.at(-1)!.answer(stored.slice(0, 2));
  await turn();
  assert.deepEqual(bodies(2), ['90', '80']);
  assert.equal(bodies(3), undefined);
  assert.equal(asked.at(-1)!.limit, 40);
  // After the statement began, so that its answer lacks them.
  recent.inserted([batchAt(2n, 100n, 65n)]);
  assert.deepEqual(bodies(3), ['100', '90', '80']);
  asked.at(-1)!.answer(stored);
  await turn();
  assert.deepEqual(bodies(10), ['100', '90', '80', '70', '65', '60']);
});
