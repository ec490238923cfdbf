/** Columns without a value in any log, on a real engine. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { logRowFields } from '../../src/codec/log-rows.ts';
import type { LogRecord } from '../../src/model/plan.ts';
import { findUnusedColumns } from '../../src/store/pages/unused-columns.ts';
import { columnOf } from '../../src/store/sql/log-record.ts';
import { type EngineStore, onCluster, openEngineStore } from './engine-store.ts';
import { localToken } from './local-token.ts';
import { type LogFixture, stampedBatch } from './log-row-fixture.ts';
import { everyLog } from './read-oracle.ts';

const owner = { accountId: randomUUID(), streamId: randomUUID(), receiverId: randomUUID() };
let engine: EngineStore;

async function insert(log: Partial<LogFixture>): Promise<void> {
  const batch = stampedBatch([log], { owner, receivedAtNanos: BigInt(Date.now()) * 1_000_000n });
  await engine.store.insert('logs/1', [batch], 'all', localToken);
}

async function list(): Promise<LogRecord[]> {
  const filter = everyLog(owner.accountId, [owner.streamId]);
  const page = { limit: 9, direction: 'older', position: undefined } as const;
  return engine.store.list({ filter, ...page, untilWatermarkNanos: undefined });
}

/** Fields that the tests before do not fill. */
const firstValues: readonly [
  string,
  Partial<LogFixture>,
  (record: LogRecord) => string | undefined,
][] = [
  ['serviceName', { serviceName: 's' }, ({ serviceName }) => serviceName],
  ['spanId', { spanId: 'b7ad6b7169203331' }, ({ spanId }) => spanId],
  ['logAttributes', { logAttributes: { own: '1' } }, ({ labels }) => labels['own'] ?? ''],
];

suite('columns without a value', { skip: onCluster && 'a cluster has other writers' }, () => {
  before(async () => {
    engine = await openEngineStore();
  });
  after(() => engine.close());

  test('are those that no log in the store fills', async () => {
    await insert({ body: 'first', host: 'h', traceFlags: 1 });
    await insert({ body: 'second', resourceAttributes: { a: 'b' }, k8sPod: 'p' });
    const columns = findUnusedColumns(engine.store.connection, 'weir');
    await columns.found;
    const used = ['body', 'host', 'traceFlags', 'resourceAttributes', 'k8sPod'];
    const expected = logRowFields
      .filter(([name, type]) => type !== 'Int64' && !used.includes(name))
      .map(columnOf);
    assert.deepEqual(columns.names(), new Set(expected));
  });

  test('are read once a log fills them', async () => {
    const earlier = await list();
    assert.deepEqual(
      earlier.map(({ message, eventName, scope }) => [message, eventName, scope.name]),
      [
        ['second', '', ''],
        ['first', '', ''],
      ],
    );
    await insert({ body: 'third', eventName: 'e', scopeName: 's', severityNumber: 9 });
    const [newest] = await list();
    assert.deepEqual(
      [newest?.message, newest?.eventName, newest?.scope.name, newest?.severityNumber],
      ['third', 'e', 's', 9],
    );
  });

  for (const [field, log, valueOf] of firstValues) {
    test(`no list lacks ${field} of a log that is inserted meanwhile`, async () => {
      const message = `the first with ${field}`;
      let isOver = false;
      let seen = 0;
      const lookAround = async () => {
        do {
          const found = (await list()).filter((record) => record.message === message);
          for (const record of found) assert.notEqual(valueOf(record), '', field);
          seen += found.length;
        } while (!isOver);
      };
      // So many that some wait for their turn while the log is inserted.
      const lists = Array.from({ length: 30 }, lookAround);
      await list();
      await insert({ ...log, body: message }).finally(() => (isOver = true));
      await Promise.all(lists);
      await lookAround();
      assert.ok(seen > 0);
    });
  }
});
