/**
 * A walk over a real engine: all matches, once and in order, also when the engine refuses steps
 * that are too large.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { localToken } from './local-token.ts';
import { AppError } from '../../src/model/errors.ts';
import type { LogFilter, WalkPoint } from '../../src/model/plan.ts';
import type { Store } from '../../src/store/port.ts';
import { type EngineStore, generousLimits, onCluster, openEngineStore } from './engine-store.ts';
import { stampedBatch } from './log-row-fixture.ts';
import { everyLog } from './read-oracle.ts';
import { matches, type Stored, toStored } from './read-oracle.ts';

const accountId = randomUUID();
const streamIds = [randomUUID(), randomUUID()] as const;
const nowNanos = BigInt(Date.now()) * 1_000_000n;
const dayNanos = 86_400_000_000_000n;
const rows = 20_000;

let engine: EngineStore;
let stored: Stored[];
before(async () => {
  engine = await openEngineStore();
  const batches = streamIds.map((streamId, stream) => {
    const logs = Array.from({ length: rows }, (_, i) => ({
      // One of five is in the same nanosecond.
      timestamp:
        i % 5 === 0 ? nowNanos - dayNanos : nowNanos - (BigInt(i) * 40n * dayNanos) / 20_000n,
      body: i % 3_000 === stream ? `rare ${i} ${'x'.repeat(100_000)}` : `usual ${i}`,
      host: `h${i % 3}`,
    }));
    const owner = { accountId, streamId, receiverId: 'rcv_test' };
    const id = { writer: 3n, sequence: BigInt(stream) };
    return { logs, batch: stampedBatch(logs, { owner, id, receivedAtNanos: nowNanos }) };
  });
  await engine.store.insert(
    'logs/1',
    batches.map(({ batch }) => batch),
    'all',
    localToken,
  );
  stored = batches.flatMap(({ logs, batch }) => toStored(batch, logs));
  stored.sort((a, b) => (a.logId < b.logId ? 1 : -1));
});
after(() => engine.close());

const everything: LogFilter = everyLog(accountId, streamIds);
const rare: LogFilter = { ...everything, search: [{ text: 'rare', exclude: false }] };

const { signal } = new AbortController();

async function walk(store: Store, filter: LogFilter): Promise<string[]> {
  const ids: string[] = [];
  let from: WalkPoint | undefined;
  do {
    const step = await store.walk({ filter, limit: 1_000_000, from }, signal);
    ids.push(...step.logs.map(({ logId }) => logId));
    from = step.next;
  } while (from !== undefined);
  return ids;
}

function expected(filter: LogFilter): string[] {
  return stored.filter((log) => matches(filter, log)).map(({ logId }) => logId);
}

test('visits what the list would, for any filter', async () => {
  const some: LogFilter = { ...everything, equal: new Map([['host', ['h1']]]) };
  const fromNanos = nowNanos - 9n * dayNanos;
  const range: LogFilter = { ...everything, fromNanos, untilNanos: nowNanos - dayNanos };
  for (const filter of [everything, some, rare, range, { ...everything, streams: [] }]) {
    assert.deepEqual(await walk(engine.store, filter), expected(filter));
  }
});

test('retries refused steps with fewer rows, and skips none', { skip: onCluster }, async () => {
  const cases = [
    [rare, { maxRowsRead: 30_000 }],
    [everything, { maxRowsReturned: 2_000 }],
  ] as const;
  for (const [filter, change] of cases) {
    const tight = await engine.reopen({ limits: { ...generousLimits, ...change } });
    assert.deepEqual(await walk(tight, filter), expected(filter), JSON.stringify(change));
    await tight.close();
  }
});

test('fails when no step is small enough', async () => {
  for (const change of [{ maxRowsRead: 10 }, { maxMemoryBytes: 1_000 }]) {
    const tight = await engine.reopen({ limits: { ...generousLimits, ...change } });
    await assert.rejects(walk(tight, everything), (error) => {
      return error instanceof AppError && error.code === 'unavailable';
    });
    await tight.close();
  }
});

test('an aborted step is not a failure', async () => {
  const calledOff = AbortSignal.abort();
  const step = engine.store.walk({ filter: rare, limit: 1, from: undefined }, calledOff);
  await assert.rejects(step);
  const metric = engine.instruments.metrics.getSingleMetric('weir_store_read_failures_total');
  const failures = (await metric!.get()).values.filter(({ labels }) => labels['kind'] === 'walk');
  assert.deepEqual(failures, []);
});
