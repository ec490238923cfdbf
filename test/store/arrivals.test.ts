/**
 * The order of arrival: complete, by batch and row for equal times, cut at the page size, and
 * counted consistently.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { localToken } from './local-token.ts';
import {
  type ArrivalPosition,
  type ArrivalsPlan,
  type ArrivedLog,
  arrivalsUntil,
} from '../../src/model/arrival.ts';
import type { StampedBatch } from '../../src/model/batch.ts';
import type { LogFilter } from '../../src/model/plan.ts';
import { createRandom } from '../harness/random.ts';
import { type EngineStore, openEngineStore } from './engine-store.ts';
import { type LogFixture, stampedBatch } from './log-row-fixture.ts';

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
});
after(() => engine.close());

const second = 1_000_000_000n;
const start = BigInt(Date.parse('2026-04-01T23:59:30Z')) * 1_000_000n;
const mebibyte = 2 ** 20;

function filterOf(accountId: string, change: Partial<LogFilter> = {}): LogFilter {
  return {
    accountId,
    streams: ['a', 'b'].map((streamId) => ({ streamId, receivedFromNanos: 0n })),
    fromNanos: undefined,
    untilNanos: undefined,
    equal: new Map(),
    labels: [],
    search: [],
    excluded: { equal: new Map(), labels: [] },
    ...change,
  };
}

interface Place {
  readonly accountId: string;
  readonly receivedAtNanos: bigint;
  readonly writer: bigint;
  readonly sequence: bigint;
  readonly streamId?: string;
}

function batchOf(logs: readonly Partial<LogFixture>[], place: Place): StampedBatch {
  const { accountId, receivedAtNanos, writer, sequence, streamId = 'a' } = place;
  const owner = { accountId, streamId, receiverId: 'r' };
  return stampedBatch(logs, { owner, receivedAtNanos, id: { writer, sequence } });
}

/** Page by page. @returns the logs, and the size of each page. */
async function readAll(plan: ArrivalsPlan) {
  const logs: ArrivedLog[] = [];
  const pages: number[] = [];
  let { after: position } = plan;
  for (;;) {
    const page = await engine.store.arrivals({ ...plan, after: position });
    logs.push(...page.logs);
    pages.push(page.logs.length);
    if (page.isComplete) return { logs, pages };
    position = page.logs.at(-1)!.position;
  }
}

test('returns all later logs from any position, by time of receipt, batch and row', async () => {
  const random = createRandom(11);
  const accountId = 'order';
  // Writers around the sign bit of 64 and 128 bits; equal times; two days of receipt.
  const writers = [1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n] as const;
  const expected: (ArrivalPosition & { readonly body: string })[] = [];
  const batches: StampedBatch[] = [];
  for (let i = 0; i < 60; i++) {
    const writer = random.pick([...writers]);
    const sequence = BigInt(i % 2 === 0 ? i : 2 ** 40 + i);
    const receivedAtNanos = start + BigInt(random.integer(0, 5)) * 10n * second;
    const logs = Array.from({ length: random.integer(1, 4) }, (_, row) => ({
      body: `${i}/${row}`,
      // Event times are unrelated to arrival.
      timestamp: start - BigInt(random.integer(0, 1e9)) * second,
    }));
    const place = {
      accountId,
      receivedAtNanos,
      writer,
      sequence,
      streamId: random.pick(['a', 'b']),
    };
    batches.push(batchOf(logs, place));
    const batch = (writer << 64n) | sequence;
    expected.push(...logs.map(({ body }, row) => ({ receivedAtNanos, batch, row, body })));
  }
  await engine.store.insert('logs/1', batches, 'all', localToken);
  expected.sort(compare);
  const untilNanos = start + 45n * second;
  // Pages of one log, each a statement: only from 23:59:50 to 00:00:10, the last two times.
  const midnight = start + 30n * second;
  const late = expected[expected.findIndex((log) => log.receivedAtNanos >= midnight) - 10]!;
  assert.equal(late.receivedAtNanos, midnight - 10n * second);
  for (const [limit, first] of [
    [1, late],
    [7, arrivalsUntil(0n)],
    [1000, arrivalsUntil(0n)],
  ] as const) {
    for (let round = 0; round < (limit === 7 ? 3 : limit === 1 ? 1 : 8); round++) {
      const from = round === 0 ? first : random.pick([expected[0]!, ...expected]);
      const { receivedAtNanos, batch, row } = from;
      const position = { receivedAtNanos, batch, row };
      const range = { filter: filterOf(accountId), after: position, untilNanos };
      const later = expected.filter(
        (log) => compare(log, position) > 0 && log.receivedAtNanos <= untilNanos,
      );
      const { logs } = await readAll({ ...range, limit, maxBytes: mebibyte });
      assert.deepEqual(
        logs.map(({ position: at, log }) => ({ ...at, body: log.message })),
        later,
      );
      assert.equal(await engine.store.countArrivals(range), later.length);
    }
  }
});

function compare(a: ArrivalPosition, b: ArrivalPosition): number {
  const difference = a.receivedAtNanos - b.receivedAtNanos || a.batch - b.batch;
  return Number(difference) || a.row - b.row;
}

test('excludes other accounts and hidden logs', async () => {
  const [accountId, writer] = ['mine', 5n];
  const at = (sequence: bigint, place: Partial<Place> = {}) =>
    batchOf([{ body: `${sequence}` }], {
      accountId,
      writer,
      sequence,
      receivedAtNanos: start + sequence * second,
      ...place,
    });
  const batches = [at(1n), at(2n, { accountId: 'theirs' }), at(3n), at(4n, { streamId: 'c' })];
  await engine.store.insert('logs/1', [...batches, at(5n, { streamId: 'b' })], 'all', localToken);
  const streams = [
    { streamId: 'a', receivedFromNanos: start + 2n * second },
    { streamId: 'b', receivedFromNanos: 0n },
  ];
  const range = {
    filter: filterOf(accountId, { streams }),
    after: arrivalsUntil(0n),
    untilNanos: start + 9n * second,
  };
  const { logs } = await readAll({ ...range, limit: 10, maxBytes: mebibyte });
  assert.deepEqual(
    logs.map(({ log }) => log.message),
    ['3', '5'],
  );
  assert.equal(await engine.store.countArrivals(range), 2);
});

test('a page stays within its size, unless a single log exceeds it', async () => {
  const accountId = 'large';
  const sizes = [10, 300_000, 20, 400_000, 400_000, 3 * mebibyte, 30, 5, 5];
  const logs = sizes.map((size, i) => ({ body: `${i}`.padEnd(size, 'x') }));
  const place = { accountId, receivedAtNanos: start, writer: 3n, sequence: 1n };
  await engine.store.insert('logs/1', [batchOf(logs, place)], 'all', localToken);
  const range = { filter: filterOf(accountId), after: arrivalsUntil(0n), untilNanos: start };
  const read = await readAll({ ...range, limit: 64, maxBytes: mebibyte });
  assert.deepEqual(
    read.logs.map(({ log }) => log.message.length),
    sizes,
  );
  assert.ok(read.pages.length > 2, `${read.pages.length} pages`);
});
