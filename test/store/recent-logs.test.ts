/**
 * Pages of the newest logs from memory, while logs are inserted, late ones too, and deleted: every
 * page is the one that a store without logs in memory reads.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, suite, test } from 'node:test';
import type { EqualityField } from '../../src/model/log-fields.ts';
import { decodeLogId } from '../../src/model/log-id.ts';
import type {
  LabelPair,
  ListPlan,
  LogFilter,
  LogRecord,
  Scan,
  SearchTerm,
} from '../../src/model/plan.ts';
import type { ClickHouseStore } from '../../src/store/clickhouse.ts';
import { createLogReader } from '../../src/store/log-reader.ts';
import { noUnusedColumns } from '../../src/store/pages/unused-columns.ts';
import { unknownFloor } from '../../src/store/receipt-floor.ts';
import { createRandom, type Random } from '../harness/random.ts';
import { runs } from '../harness/runs.ts';
import { until } from '../harness/until.ts';
import { type EngineStore, generousLimits, onCluster, openEngineStore } from './engine-store.ts';
import { localToken } from './local-token.ts';
import { type LogFixture, severityFixtures, stampedBatch } from './log-row-fixture.ts';
import { everyLog } from './read-oracle.ts';

const seed = Number(process.env['RECENT_SEED'] ?? 1);
const steps = runs(40);
const startNanos = BigInt(Date.now()) * 1_000_000n;
const second = 1_000_000_000n;

let engine: EngineStore;
/** The same tables with few logs in memory, and with none. */
let store: ClickHouseStore;
let plain: ReturnType<typeof createLogReader>;
let sequence = 0n;

const labels: readonly [LabelPair, ...LabelPair[]] = [
  { key: 'k', value: 'v' },
  { key: 'k', value: 'hidden' },
  { key: 'r', value: '' },
  { key: 'absent', value: '' },
  { key: '__proto__', value: 'own' },
];

const terms = ['Text', 'quoted', 'k', '\u212A', 'größe', '漢', '%'].flatMap((text) => [
  { text, exclude: false },
  { text, exclude: true },
]) as [SearchTerm, ...SearchTerm[]];

interface Owner {
  readonly accountId: string;
  readonly streamId: string;
}

async function insert(
  owner: Owner,
  logs: readonly Partial<LogFixture>[],
  mode: 'all' | 'missing' = 'all',
): Promise<void> {
  sequence += 1n;
  const batch = stampedBatch(logs, {
    owner: { ...owner, receiverId: 'rcv_test' },
    id: { writer: 5n, sequence },
    receivedAtNanos: startNanos + sequence * second,
  });
  await store.insert('logs/1', [batch], mode, localToken);
}

function listPlan(filter: LogFilter, change: Partial<ListPlan> = {}): ListPlan {
  const plan = { filter, limit: 20, direction: 'older', position: undefined } as const;
  return { ...plan, untilWatermarkNanos: undefined, ...change };
}

/** Whether the page came from memory. @throws unless both stores return the same page */
async function agree(plan: ListPlan): Promise<boolean> {
  const scanned: Scan = { rows: 0, bytes: 0 };
  const page = await store.list(plan, undefined, scanned);
  assert.deepEqual(page, await plain.list(plan));
  return page.length > 0 && scanned.rows === 0;
}

const inMemory = (plan: ListPlan) => until(() => agree(plan), { what: 'a page from memory' });

class Run {
  readonly random: Random = createRandom(seed);
  readonly accountId = randomUUID();
  readonly streamIds = [randomUUID(), randomUUID()] as const;
  readonly deletedUntil = new Map<string, bigint>();
  lastPage: readonly LogRecord[] = [];
  fromMemory = 0;

  async step(): Promise<void> {
    const chance = this.random.next();
    if (chance < 0.3) await this.insert();
    else if (chance < 0.31) await this.delete();
    else if (chance < 0.4) await delay(30);
    else await this.list();
  }

  async insert(): Promise<void> {
    const { random } = this;
    const streamId = random.pick(this.streamIds);
    const logs = Array.from({ length: random.integer(1, 12) }, () => this.#nextLog());
    const mode = random.next() < 0.04 ? 'missing' : 'all';
    await insert({ accountId: this.accountId, streamId }, logs, mode);
  }

  #nextLog(): Partial<LogFixture> {
    const { random } = this;
    const late = random.next() < 0.3 ? BigInt(random.integer(0, 200)) * second : 0n;
    const timestamp = startNanos + sequence * second - late;
    return {
      ...random.pick(severityFixtures as [(typeof severityFixtures)[0]]),
      timestamp: random.next() < 0.1 ? -1n : timestamp,
      host: random.pick(['h1', 'h2', '']),
      serviceName: random.pick(['a', 'b']),
      k8sPod: random.pick(['p', '']),
      body: random.pick(['text', 'Some TEXT', '漢字 "Quoted"\n', '\u212A GRÖSSE text']),
      traceId: random.pick(['', '4bf92f3577b34da6a3ce929d0e0e4736']),
      logAttributes: random.pick([{}, { k: 'v', ['__proto__']: 'own' }]),
      resourceAttributes: random.pick([{}, { k: 'hidden', r: '' }]),
      eventName: random.pick(['', 'e']),
      scopeName: random.pick(['', 's']),
    };
  }

  /** As the service does: plans hide the deleted logs first. */
  async delete(): Promise<void> {
    const streamId = this.random.pick(this.streamIds);
    const untilNanos = startNanos + (sequence - 3n) * second;
    // Rows are deleted later, and until then hidden, those received at the end of the range too.
    this.deletedUntil.set(streamId, untilNanos + 1n);
    await store.deleteStreamData(this.accountId, streamId, untilNanos);
  }

  async list(): Promise<void> {
    const plan = this.#nextPlan();
    if (await agree(plan)) this.fromMemory += 1;
    const page = await plain.list(plan);
    if (page.length > 0) this.lastPage = page;
  }

  #nextPlan(): ListPlan {
    const { random } = this;
    const at = () => startNanos + (sequence - BigInt(random.integer(-1, 60))) * second;
    const sometimes = <T>(share: number, value: () => T) =>
      random.next() < share ? value() : undefined;
    const positions = this.lastPage.map(({ logId }) => decodeLogId(logId)!);
    const direction = random.pick<ListPlan['direction']>(['older', 'older', 'newer']);
    const wanted = random.pick([['err', 'audit'], ['info'], ['']]);
    const equal: (readonly [EqualityField, readonly string[]])[] = [
      ...(sometimes(0.2, () => [['severity', wanted] as const]) ?? []),
      ...(sometimes(0.2, () => [['host', random.pick([['h1'], ['', 'h2']])] as const]) ?? []),
      ...(sometimes(0.05, () => [['traceId', ['4BF92F3577B34DA6A3CE929D0E0E4736']] as const]) ??
        []),
    ];
    const streamIds = random.pick([[...this.streamIds], [this.streamIds[0]]]);
    const filter: LogFilter = {
      ...everyLog(this.accountId, streamIds),
      streams: streamIds.map((streamId) => {
        return { streamId, receivedFromNanos: this.deletedUntil.get(streamId) ?? 0n };
      }),
      fromNanos: sometimes(0.3, at),
      untilNanos: sometimes(0.2, at),
      equal: new Map(equal),
      minSeverity: sometimes(0.1, () => random.integer(1, 20)),
      labels: sometimes(0.15, () => [random.pick(labels)]) ?? [],
      search: sometimes(0.2, () => [random.pick(terms)]) ?? [],
      excluded: {
        equal: new Map(sometimes(0.1, () => [['severity', ['warn']] as const])),
        labels: sometimes(0.1, () => [random.pick(labels)]) ?? [],
      },
    };
    const hasPosition = positions.length > 0 && random.next() < 0.5;
    return listPlan(filter, {
      limit: random.integer(1, 30),
      direction,
      position: hasPosition ? random.pick(positions as [(typeof positions)[0]]) : undefined,
      untilWatermarkNanos: direction === 'newer' ? at() : undefined,
    });
  }
}

suite('logs in memory', { skip: onCluster && 'a cluster has other writers' }, () => {
  before(async () => {
    engine = await openEngineStore();
    store = await engine.reopen({ maxLogsInMemory: 125 });
    const { connection, events } = store;
    plain = createLogReader({
      connection,
      database: 'weir',
      events,
      limits: generousLimits,
      floor: unknownFloor,
      spreads: { of: async () => undefined },
      columns: noUnusedColumns,
      counted: undefined,
      recent: undefined,
    });
  });
  after(async () => {
    await store.close();
    await engine.close();
  });

  test('pages agree with the store at any time', async (t) => {
    const run = new Run();
    t.diagnostic(`RECENT_SEED=${seed}`);
    const isDone = (step: number) => step >= steps && run.fromMemory >= steps / 5;
    for (let step = 0; !isDone(step); step++) {
      assert.ok(step < 20 * steps, `only ${run.fromMemory} pages came from memory`);
      await run.step();
    }
  });

  test('a stream that fits is answered to its end', async () => {
    const owner = { accountId: randomUUID(), streamId: randomUUID() };
    await insert(owner, [{ body: 'one' }, { body: 'two' }]);
    const filter = everyLog(owner.accountId, [owner.streamId]);
    await inMemory(listPlan(filter));
    await insert(owner, [{ body: 'three' }]);
    assert.ok(await agree(listPlan(filter)), 'an insert is added');
    assert.equal((await store.list(listPlan(filter))).length, 3);
  });

  test('a list has the logs that a count before it had', async () => {
    const owner = { accountId: randomUUID(), streamId: randomUUID() };
    await insert(owner, [{ body: 'first' }]);
    const filter = everyLog(owner.accountId, [owner.streamId]);
    await inMemory(listPlan(filter));
    const range = { startMs: 0, endMs: Date.now() + 86_400_000, buckets: 1 };
    const count = async () =>
      (await store.histogram({ filter, ...range, groupBy: undefined, topK: 1 })).counts[0]!;
    for (let logs = 2; logs < 2 + runs(30); logs++) {
      const inserted = insert(owner, [{ body: `log ${logs}` }]);
      while ((await count()) < logs);
      assert.equal((await store.list(listPlan(filter, { limit: 1_000 }))).length, logs);
      await inserted;
    }
    assert.ok(await agree(listPlan(filter)), 'afterwards pages come from memory again');
  });

  test('a page of a rare value is read once', async () => {
    const owner = { accountId: randomUUID(), streamId: randomUUID() };
    const at = (i: number) => startNanos - BigInt(1_000 - i) * second;
    const common = Array.from({ length: 200 }, (_, i) => ({ host: 'common', timestamp: at(i) }));
    await insert(owner, [{ host: 'rare', timestamp: at(-1) }, ...common]);
    const all = everyLog(owner.accountId, [owner.streamId]);
    await inMemory(listPlan(all));
    const rare = (fromNanos: bigint): LogFilter => {
      return { ...all, equal: new Map([['host', ['rare']]]), fromNanos, untilNanos: at(5_000) };
    };
    assert.equal(await agree(listPlan(rare(at(-9)))), false, 'nothing is known of it');
    assert.ok(await agree(listPlan(rare(at(-8)))), 'a later start needs no statement');
    await insert(owner, [{ host: 'rare', timestamp: at(50) }, { host: 'common' }]);
    assert.ok(await agree(listPlan(rare(at(-8)))), 'an insert is added');
    assert.equal((await store.list(listPlan(rare(at(-8))))).length, 2);
    assert.equal(await agree(listPlan(rare(at(-10)))), false, 'an earlier start is unknown');
    assert.equal(await agree(listPlan(rare(at(-10)), { limit: 1 })), true);
  });

  test('a page of some fields is not kept for others', async () => {
    const owner = { accountId: randomUUID(), streamId: randomUUID() };
    const at = (i: number) => startNanos - BigInt(1_000 - i) * second;
    const common = Array.from({ length: 200 }, (_, i) => ({ host: 'common', timestamp: at(i) }));
    await insert(owner, [{ host: 'rare', body: 'text', timestamp: at(-1) }, ...common]);
    const all = everyLog(owner.accountId, [owner.streamId]);
    await inMemory(listPlan(all));
    const equal: LogFilter['equal'] = new Map([['host', ['rare']]]);
    const rare = listPlan({ ...all, equal, fromNanos: at(-9) });
    await store.list({ ...rare, paths: ['timestamp'] });
    await agree(rare);
  });

  test('many logs between two reads are left to the store', async () => {
    const owner = { accountId: randomUUID(), streamId: randomUUID() };
    await insert(owner, [{ body: 'first' }]);
    const plan = listPlan(everyLog(owner.accountId, [owner.streamId]));
    await inMemory(plan);
    await insert(
      owner,
      Array.from({ length: 2_001 }, (_, i) => ({ body: `log ${i}` })),
    );
    assert.equal(await agree(plan), false);
  });

  test('a longer retention shows logs that were hidden', async () => {
    const owner = { accountId: randomUUID(), streamId: randomUUID() };
    await insert(owner, [{ body: 'old' }]);
    await insert(owner, [{ body: 'new' }]);
    const all = everyLog(owner.accountId, [owner.streamId]);
    const receivedFromNanos = startNanos + sequence * second;
    await inMemory(listPlan({ ...all, streams: [{ ...all.streams[0]!, receivedFromNanos }] }));
    await agree(listPlan(all));
    assert.equal((await store.list(listPlan(all))).length, 2);
  });
});
