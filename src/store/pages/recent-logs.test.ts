/** The newest logs in memory, over a store whose answers come when the test says. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import type { StampedBatch } from '../../model/batch.ts';
import { toTie } from '../../model/log-id.ts';
import type { ListPlan } from '../../model/plan.ts';
import { encodeLogs, type LogFixture, stampedBatch } from '../../../test/store/log-row-fixture.ts';
import { everyLog } from '../../../test/store/read-oracle.ts';
import type { LogRow } from '../sql/log-record.ts';
import { packBatch } from './packed-rows.ts';
import { createRecentLogs } from './recent-logs.ts';
import { StreamRows } from './stream-rows.ts';
import { noUnusedColumns } from './unused-columns.ts';
import type { ListParts } from './read-page.ts';

const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

const plan: ListPlan = {
  filter: everyLog(owner.accountId, [owner.streamId]),
  limit: 2,
  direction: 'older',
  position: undefined,
  untilWatermarkNanos: undefined,
};

const logsAt = (...times: bigint[]) =>
  times.map((timestamp) => ({ timestamp, body: String(timestamp) }));

const batchAt = (sequence: bigint, ...times: bigint[]) =>
  stampedBatch(logsAt(...times), { owner, receivedAtNanos: 1n, id: { writer: 1n, sequence } });

/** As `compilePackedList` returns them. */
function packed(batch: StampedBatch, logs: readonly Partial<LogFixture>[]): Buffer {
  const { id, receivedAtNanos } = batch;
  return Buffer.concat(
    logs.flatMap((log, n) => {
      const head = Buffer.alloc(16);
      head.writeBigUInt64LE(toTie(id.writer, id.sequence, n));
      head.writeBigInt64LE(receivedAtNanos, 8);
      const receiver = Buffer.from(owner.receiverId);
      return [head, Buffer.from([receiver.length]), receiver, encodeLogs([log])];
    }),
  );
}

/** A store whose answers come when the test says. */
function openStore() {
  const asked: {
    sql: string;
    limit: number;
    answer: (rows: readonly LogRow[] | Buffer) => void;
  }[] = [];
  const ask = ({ sql }: { sql: string }) =>
    new Promise((answer) => {
      asked.push({ sql, limit: Number(/LIMIT (\d+)/.exec(sql)![1]), answer });
    });
  const parts = {
    connection: { read: ask, readBytes: ask },
    database: 'weir',
    limits: { maxSeconds: 20, maxMemoryBytes: 2 ** 29, maxRowsRead: 1e9, maxRowsReturned: 1e5 },
    spreads: { of: async () => ({ isComplete: true, granules: [] }) },
    columns: noUnusedColumns,
  } as unknown as ListParts;
  return { asked, parts };
}

test('the newest page does not wait for the rest, to which logs are added meanwhile', async () => {
  const logs = logsAt(90n, 80n, 70n, 60n);
  const batch = stampedBatch(logs, {
    owner,
    receivedAtNanos: 1n,
    id: { writer: 1n, sequence: 1n },
  });
  const stored = packBatch(batch).map((one) => one.row());
  const { asked, parts } = openStore();
  const recent = createRecentLogs(parts, {
    maxRows: 200,
    now: Date.now,
    wereReadAhead: () => false,
  });
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
  asked.at(-1)!.answer(packed(batch, logs));
  await turn();
  assert.deepEqual(bodies(10), ['100', '90', '80', '70', '65', '60']);
  assert.equal(asked.length, 2);
});

test('older logs are loaded step by step, to which late ones are added', async () => {
  const times = Array.from({ length: 12 }, (_, n) => 99n - BigInt(n));
  const logs = times.map((timestamp, n) => {
    return { timestamp, body: String(timestamp), host: n % 3 === 2 ? 'rare' : 'common' };
  });
  const batch = stampedBatch(logs, {
    owner,
    receivedAtNanos: 1n,
    id: { writer: 1n, sequence: 1n },
  });
  const rows = packBatch(batch).map((one) => one.row());
  const { asked, parts } = openStore();
  const recent = createRecentLogs(parts, {
    maxRows: 10,
    now: Date.now,
    wereReadAhead: () => false,
  });
  const rare = {
    ...plan,
    filter: { ...plan.filter, equal: new Map([['host' as const, ['rare']]]) },
  };
  const bodies = (limit: number) => recent.list({ ...rare, limit })?.map((row) => row[8]);

  recent.follow(plan);
  await turn();
  asked[0]!.answer(rows.slice(0, 1));
  await turn();
  asked[1]!.answer(packed(batch, logs).subarray(0, packed(batch, logs.slice(0, 2)).length));
  await turn();
  assert.equal(bodies(1), undefined);
  for (const [step, rowsOfStep] of [2, 2, 2, 1].entries()) {
    await turn();
    const { limit, sql, answer } = asked[2 + step]!;
    assert.equal(limit, rowsOfStep);
    assert.match(sql, /FORMAT RowBinary/);
    if (step === 1) recent.inserted([lateRare]);
    const from = 2 + 2 * step;
    const start = packed(batch, logs.slice(0, from)).length;
    const end = packed(batch, logs.slice(0, from + limit)).length;
    answer(packed(batch, logs).subarray(start, end));
  }
  await turn();
  assert.equal(asked.length, 6, 'as many as fit');
  assert.deepEqual(bodies(4), ['97', '95', '94', '91']);
  assert.equal(bodies(5), undefined);
});

/** Older than what is in memory when it comes. */
const lateRare = stampedBatch([{ timestamp: 95n, body: '95', host: 'rare' }], {
  owner,
  receivedAtNanos: 2n,
  id: { writer: 1n, sequence: 2n },
});

test('the batches of an insert are added at once, each to its stream', async (t) => {
  const { asked, parts } = openStore();
  const recent = createRecentLogs(parts, {
    maxRows: 2_000,
    now: Date.now,
    wereReadAhead: () => false,
  });
  const other = { ...owner, streamId: 'other' };
  const otherPlan = { ...plan, filter: everyLog(owner.accountId, [other.streamId]) };
  for (const each of [plan, otherPlan]) {
    recent.follow(each);
    await turn();
    asked.at(-1)!.answer([]);
    await turn();
  }
  const add = t.mock.method(StreamRows.prototype, 'add');
  const batches = Array.from({ length: 100 }, (_, n) => {
    const batch = batchAt(BigInt(n + 1), BigInt(n + 1));
    return n % 4 === 0 ? { ...batch, owner: other } : batch;
  });
  recent.inserted(batches);
  assert.equal(add.mock.callCount(), 2);
  const bodies = (asking: ListPlan) => recent.list(asking)?.map((row) => row[8]);
  assert.deepEqual(bodies({ ...plan, limit: 3 }), ['100', '99', '98']);
  assert.deepEqual(bodies({ ...otherPlan, limit: 3 }), ['97', '93', '89']);
});
