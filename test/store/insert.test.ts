/** Batches become rows exactly once, in every mode, however often they are inserted. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { localToken } from './local-token.ts';
import type { BatchOwner } from '../../src/model/batch.ts';
import { encodeLogId, toTie } from '../../src/model/log-id.ts';
import type { ListPlan, LogRecord } from '../../src/model/plan.ts';
import { StoreInsertError } from '../../src/store/port.ts';
import { type EngineStore, onCluster, openEngineStore, truncateTables } from './engine-store.ts';
import { until } from '../harness/until.ts';
import { stampedBatch } from './log-row-fixture.ts';
import { newOwner } from './metric-fixture.ts';
import { everyLog } from './read-oracle.ts';

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
after(() => engine.close());

const day = 86_400_000_000_000n;
const noon = BigInt(Date.parse('2026-04-01T12:00:00Z')) * 1_000_000n;

function read(owner: BatchOwner, change: Partial<ListPlan> = {}): Promise<LogRecord[]> {
  return engine.store.list({
    filter: everyLog(owner.accountId, [owner.streamId]),
    limit: 1_000,
    direction: 'older',
    position: undefined,
    untilWatermarkNanos: undefined,
    ...change,
  });
}

/** Rows that the engine has not read yet; a server gets them over the network. */
function insertFiles(): string[] {
  return onCluster ? [] : readdirSync(join(engine.dataDir!, 'inserts'));
}

test('every field reads back as written', async () => {
  const owner = newOwner();
  const id = { writer: 0xffff_ffff_ffff_fff0n, sequence: 77n };
  const log = {
    timestamp: noon + 123_456_789n,
    observedTimestamp: noon + 1_000_000_000n,
    severityText: 'WARN',
    severityNumber: 13,
    serviceName: 'checkout',
    serviceNamespace: 'shop',
    host: 'till-1',
    body: 'tab\there, "quotes", \\ back, nul \0, emoji 🙂, new\nline',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: 1,
    eventName: 'till.opened',
    scopeName: 'till',
    scopeVersion: '1.2',
    k8sCluster: 'c',
    k8sNamespace: 'n',
    k8sNode: 'o',
    k8sPod: 'p',
    k8sContainer: 'q',
    k8sDeployment: 'd',
    logAttributes: { both: 'log', own: '1', ['__proto__']: 'data' },
    resourceAttributes: { both: 'resource', inherited: '' },
  };
  const batch = stampedBatch([{ body: 'first' }, log], { owner, id, receivedAtNanos: noon });
  await engine.store.insert('logs/1', [batch], 'all', localToken);

  const [own, first] = await read(owner);
  assert.deepEqual(own, {
    logId: encodeLogId({ timeNanos: log.timestamp, tie: toTie(id.writer, id.sequence, 1) }),
    timestamp: '2026-04-01T12:00:00.123Z',
    timestampNanos: String(log.timestamp),
    observedTimestamp: '2026-04-01T12:00:01.000Z',
    streamId: owner.streamId,
    receiverId: owner.receiverId,
    severity: 'WARN',
    severityNumber: 13,
    message: log.body,
    serviceName: 'checkout',
    serviceNamespace: 'shop',
    host: 'till-1',
    labels: { both: 'log', inherited: '', own: '1', ['__proto__']: 'data' },
    kubernetes: {
      cluster: 'c',
      namespace: 'n',
      node: 'o',
      pod: 'p',
      container: 'q',
      deployment: 'd',
    },
    traceId: log.traceId,
    spanId: log.spanId,
    receivedAt: '2026-04-01T12:00:00.000Z',
    traceFlags: 1,
    eventName: 'till.opened',
    scope: { name: 'till', version: '1.2' },
  });
  assert.equal(first?.timestampNanos, String(noon), 'a log without a time has its time of receipt');
  assert.equal(first?.observedTimestamp, '2026-04-01T12:00:00.000Z');
});

test('breaks ties like the model', async () => {
  const owner = newOwner();
  const ids = [
    { writer: 1n, sequence: 1n },
    { writer: 0xffff_ffff_ffff_ffffn, sequence: 0xffff_ffffn },
    { writer: 0x8000_0000_0000_0000n, sequence: 1n << 63n },
  ];
  const batches = ids.map((id) =>
    stampedBatch([{ body: 'a' }, { body: 'b' }], { owner, id, receivedAtNanos: noon }),
  );
  await engine.store.insert('logs/1', batches, 'all', localToken);
  const expected = ids.flatMap(({ writer, sequence }) =>
    [0, 1].map((row) => encodeLogId({ timeNanos: noon, tie: toTie(writer, sequence, row) })),
  );
  const logIds = (await read(owner)).map(({ logId }) => logId);
  assert.deepEqual(logIds, expected.sort().reverse());
});

suite('mode missing', () => {
  test('adds only missing rows, over several days and attempts', async () => {
    const owner = newOwner();
    const logs = Array.from({ length: 300 }, (_, i) => ({ body: `row ${i}` }));
    const batches = [0n, 1n, 2n, 3n].map((sequence) =>
      stampedBatch(logs, {
        owner,
        id: { writer: 99n, sequence },
        receivedAtNanos: noon + (sequence * day) / 2n,
      }),
    );
    await engine.store.insert('logs/1', [batches[1]!, batches[3]!], 'all', localToken);
    for (let attempt = 0; attempt < 2; attempt++) {
      await engine.store.insert('logs/1', batches, 'missing', localToken);
      const records = await read(owner, { limit: 10_000 });
      assert.equal(records.length, 1_200);
      assert.equal(new Set(records.map(({ logId }) => logId)).size, 1_200);
    }
  });

  test('ignores rows of another writer with the same numbers', async () => {
    const owner = newOwner();
    const at = { owner, receivedAtNanos: noon };
    const one = stampedBatch([{ body: 'one' }], { ...at, id: { writer: 1n, sequence: 5n } });
    const two = stampedBatch([{ body: 'two' }], { ...at, id: { writer: 2n, sequence: 5n } });
    await engine.store.insert('logs/1', [one], 'all', localToken);
    await engine.store.insert('logs/1', [one, two], 'missing', localToken);
    assert.deepEqual((await read(owner)).map(({ message }) => message).sort(), ['one', 'two']);
  });
});

test('inserts thousands of single rows and one large payload together', async () => {
  const owner = newOwner();
  const single = Array.from({ length: 3_000 }, (_, i) =>
    stampedBatch([{ body: `single ${i}` }], {
      owner,
      id: { writer: 7n, sequence: BigInt(i) },
      receivedAtNanos: noon + BigInt(i),
    }),
  );
  const large = stampedBatch(
    Array.from({ length: 2_000 }, () => ({ body: 'x'.repeat(500) })),
    { owner, id: { writer: 7n, sequence: 5_000n }, receivedAtNanos: noon },
  );
  await engine.store.insert('logs/1', [...single, large], 'all', localToken);
  assert.equal((await read(owner, { limit: 10_000 })).length, 5_000);
  assert.deepEqual(insertFiles(), []);
});

suite('failures say whether rows may be stored', () => {
  const failureOf = async (attempt: Promise<unknown>) => {
    const error = await attempt.then(
      () => assert.fail('the insert succeeded'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof StoreInsertError, String(error));
    return error.failure;
  };

  test('unreadable rows are a data error', async () => {
    const batch = stampedBatch([{ body: 'cut' }], { owner: newOwner(), receivedAtNanos: noon });
    const cut = { ...batch, payload: batch.payload.subarray(0, batch.payload.length - 3) };
    assert.equal(await failureOf(engine.store.insert('logs/1', [cut], 'all', localToken)), 'data');
    assert.deepEqual(insertFiles(), []);
  });

  const moments = {
    'at its begin': async () => undefined,
    'when some of its rows are stored': () =>
      until(async () => (await rowsStored()) > 0, { what: 'a part' }),
  };
  for (const [name, moment] of Object.entries(moments)) {
    test(`an engine killed during an insert, ${name}, leaves it unknown; a fence settles it`, {
      skip: onCluster,
    }, async () => {
      await truncateTables(engine);
      const owner = newOwner();
      // More than one block of an insert: parts of the first are stored without the others.
      const logs = Array.from({ length: 50_000 }, (_, row) => ({ body: `row ${row}` }));
      const first = stampedBatch(logs, { owner, receivedAtNanos: noon });
      const batches = Array.from({ length: 6 }, (_, i) => {
        const receivedAtNanos = noon + (BigInt(i) % 3n) * day;
        return { ...first, id: { writer: 1n, sequence: BigInt(i) }, receivedAtNanos };
      });
      const insert = failureOf(engine.store.insert('logs/1', batches, 'all', localToken));
      await moment();
      process.kill(engine.enginePid()!, 'SIGKILL');
      assert.match(await insert, /unknown|unavailable/);
      assert.deepEqual(insertFiles(), []);
      await engine.store.fence(localToken);
      await engine.store.insert('logs/1', batches, 'missing', localToken);
      assert.deepEqual(await rowsStored(), 300_000);
    });
  }
});

async function rowsStored(): Promise<number> {
  const statement = { sql: 'SELECT toUInt32(count()) FROM weir.logs', params: {} };
  const [row] = await engine.store.connection.query<[number]>('housekeeping', statement);
  return row![0];
}

test('rows that take more memory than an insert may fail as data, not as an outage', {
  skip: onCluster,
}, async () => {
  const small = await openEngineStore({ memoryBytes: 256 * 2 ** 20 });
  const log = { body: 'x'.repeat(200), logAttributes: { a: 'x'.repeat(50), b: 'x'.repeat(50) } };
  const logs = Array.from({ length: 200_000 }, () => log);
  const batch = stampedBatch(logs, { owner: newOwner(), receivedAtNanos: noon });
  try {
    const inserted = small.store.insert('logs/1', [batch], 'all', localToken);
    await assert.rejects(inserted, (error) => {
      assert.ok(error instanceof StoreInsertError);
      assert.match(error.message, /MEMORY_LIMIT_EXCEEDED; raise engine\.memoryBytes/);
      return error.failure === 'data';
    });
  } finally {
    await small.close();
  }
});
