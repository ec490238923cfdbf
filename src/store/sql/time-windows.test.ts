/** Windows of a list cover its range once; a walk returns every log once. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { suite, test } from 'node:test';
import type { LogPosition } from '../../model/log-id.ts';
import type { ListPlan, LogFilter, WalkPoint } from '../../model/plan.ts';
import {
  firstRows,
  listWindows,
  type RowSpread,
  walkOn,
  walkSlower,
  walkStart,
  walkWindow,
} from './time-windows.ts';

const second = 1_000_000_000n;
const now = 1_780_000_000n * second;
const time = fc.bigInt(0n, 5_600_000_000n * second);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const planArbitrary: fc.Arbitrary<ListPlan> = fc.record({
  filter: fc.record({
    accountId: fc.constant('a'),
    streams: fc.constant([]),
    fromNanos: maybe(time),
    untilNanos: maybe(time),
    equal: fc.constant(new Map()),
    labels: fc.constant([]),
    search: fc.constant([]),
  }),
  limit: fc.constant(10),
  direction: fc.constantFrom('older', 'newer'),
  position: maybe(fc.record({ timeNanos: time, tie: fc.constant(0n) })),
  untilWatermarkNanos: maybe(time),
});

const spreadArbitrary: fc.Arbitrary<RowSpread> = fc.record({
  granules: fc
    .array(fc.record({ fromNanos: time, rows: fc.nat(3_000_000) }), { maxLength: 30 })
    .map((granules) => granules.sort((a, b) => (a.fromNanos < b.fromNanos ? 1 : -1))),
  isComplete: fc.boolean(),
});

test('windows cover the range of the plan once, in its direction, for any spread', () => {
  const times = fc.array(time, { maxLength: 20 });
  fc.assert(
    fc.property(planArbitrary, maybe(spreadArbitrary), times, (plan, spread, moments) => {
      const windows = [...listWindows(plan, spread, now)];
      assert.ok(windows.length <= 16, `${windows.length} windows`);
      for (const at of moments) {
        const holding = windows.filter(
          ({ fromNanos, untilNanos }) =>
            (fromNanos === undefined || at >= fromNanos) &&
            (untilNanos === undefined || at < untilNanos),
        );
        assert.ok(holding.length <= 1);
        assert.equal(holding.length === 1, mayShow(plan, at), `${at}`);
      }
      for (const [i, window] of windows.slice(1).entries()) {
        const before = windows[i]!;
        if (plan.direction === 'older') assert.equal(window.untilNanos, before.fromNanos);
        else assert.equal(window.fromNanos, before.untilNanos);
      }
    }),
  );
});

function mayShow(plan: ListPlan, at: bigint): boolean {
  const { fromNanos, untilNanos } = plan.filter;
  if (fromNanos !== undefined && at < fromNanos) return false;
  if (untilNanos !== undefined && at >= untilNanos) return false;
  const limit = plan.position?.timeNanos;
  if (plan.direction === 'older') return limit === undefined || at <= limit;
  const watermark = plan.untilWatermarkNanos;
  return (limit === undefined || at >= limit) && (watermark === undefined || at <= watermark);
}

test('without a spread, recent logs are read in windows of seconds, the oldest in one', () => {
  const [plan] = fc.sample(planArbitrary, { numRuns: 1, seed: 1 });
  const { filter } = plan!;
  const all = { ...filter, fromNanos: undefined, untilNanos: undefined };
  const windows = [
    ...listWindows(
      { ...plan!, filter: all, direction: 'older', position: undefined },
      undefined,
      now,
    ),
  ];
  assert.deepEqual(windows[0], { fromNanos: now - 10n * second, untilNanos: undefined });
  assert.equal(windows.length, 5);
  assert.equal(windows.at(-1)!.fromNanos, 0n);
});

/** Granules of 8,192 rows, one a minute, the newest a day before now. */
function minutely(count: number): RowSpread {
  const newest = now - 86_400n * second;
  const granules = Array.from({ length: count }, (_, i) => {
    return { fromNanos: newest - BigInt(i) * 60n * second, rows: 8_192 };
  });
  return { granules, isComplete: true };
}

const anyTime: ListPlan = {
  filter: { accountId: 'a', streams: [{}], equal: new Map(), labels: [], search: [] } as never,
  limit: 10,
  direction: 'older',
  position: undefined,
  untilWatermarkNanos: undefined,
};

test('a search for an identifier reads a small store in one window', () => {
  const search = [{ text: '4bf92f3577b34da6', exclude: false }];
  const windows = [
    ...listWindows({ ...anyTime, filter: { ...anyTime.filter, search } }, minutely(300), now),
  ];
  assert.deepEqual(windows, [{ fromNanos: 0n, untilNanos: undefined }]);
});

test('a search for words, or of several streams, begins with the newest million rows', () => {
  const spread = minutely(300);
  const word = { ...anyTime.filter, search: [{ text: 'connection reset', exclude: false }] };
  const [stream] = word.streams;
  const id = { text: '4bf92f3577b34da6', exclude: false };
  for (const filter of [word, { ...word, search: [id], streams: [stream!, stream!] }]) {
    const windows = [...listWindows({ ...anyTime, filter }, spread, now)];
    assert.deepEqual(
      windows.map(({ fromNanos }) => fromNanos),
      [spread.granules[122]!.fromNanos, 0n],
    );
  }
});

test('a first window is as small as the rows that are expected to hold the page', () => {
  const search = [{ text: 'connection reset', exclude: false }];
  const word = { ...anyTime.filter, search };
  const service: LogFilter = { ...anyTime.filter, equal: new Map([['serviceName', ['api']]]) };
  const rows = [1, 400_000, 2_000_000, 9_000_000, undefined];
  assert.deepEqual(
    rows.map((expected) => firstRows(word, expected)),
    [100_000, 400_000, 1_000_000, 1_000_000, 1_000_000],
  );
  assert.deepEqual(
    rows.map((expected) => firstRows(service, expected)),
    [100_000, 400_000, 2_000_000, 4_000_000, 4_000_000],
  );
  const id = { ...word, search: [{ text: '4bf92f3577b34da6', exclude: false }] };
  assert.equal(firstRows(id, 1), 32_000_000);
});

test('the first window begins where the newest rows of a large store are', () => {
  const spread = minutely(2_000);
  const [first, second_] = [...listWindows(anyTime, spread, now)];
  assert.equal(first!.fromNanos, spread.granules[12]!.fromNanos);
  assert.equal(second_!.fromNanos, spread.granules[12 + 391]!.fromNanos);
});

test('a page towards newer logs grows by rows, too', () => {
  const spread = minutely(2_000);
  const position = { timeNanos: spread.granules[1_000]!.fromNanos, tie: 0n };
  const [first] = [...listWindows({ ...anyTime, direction: 'newer', position }, spread, now)];
  assert.equal(first!.fromNanos, position.timeNanos);
  assert.equal(first!.untilNanos, spread.granules[1_000 - 13]!.fromNanos);
});

const nowNanos = 1_800_000_000_000_000_000n;

interface Log extends LogPosition {
  readonly bytes: number;
}

interface Range {
  readonly fromNanos?: bigint;
  readonly untilNanos?: bigint;
}

const isBefore = (a: LogPosition, b: LogPosition) =>
  a.timeNanos < b.timeNanos || (a.timeNanos === b.timeNanos && a.tie < b.tie);

/** Newest first; refuses a larger statement, like the engine. */
function walkAll(logs: readonly Log[], range: Range, engineBytes: number) {
  const filter = { ...range } as LogFilter;
  const sorted = [...logs].sort((a, b) => (isBefore(a, b) ? 1 : -1));
  const seen: Log[] = [];
  let statements = 0;
  for (let point: WalkPoint | undefined = walkStart; point !== undefined; ) {
    const window = walkWindow(filter, point, nowNanos);
    if (window === undefined) break;
    statements += 1;
    const { position, rows } = point;
    const found = sorted
      .filter(({ timeNanos }) => timeNanos >= (window.fromNanos ?? 0n))
      .filter(({ timeNanos }) => window.untilNanos === undefined || timeNanos < window.untilNanos)
      .filter((log) => position === undefined || isBefore(log, position))
      .slice(0, rows);
    const bytes = found.reduce((sum, log) => sum + log.bytes, 0);
    if (bytes > engineBytes && rows > 1) {
      point = walkSlower(point, 'size')!;
      continue;
    }
    seen.push(...found);
    const next = { window, rows: found.length, bytes, last: found.at(-1) };
    point = walkOn({ filter, limit: Number.MAX_SAFE_INTEGER }, point, next, nowNanos);
  }
  return { seen, statements, sorted };
}

const anyLog = fc.record({
  timeNanos: fc.oneof(
    fc.bigInt({ min: nowNanos - 100n * second, max: nowNanos + 10n * second }),
    fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n }),
    fc.constantFrom(0n, nowNanos, nowNanos - 10n * second),
  ),
  tie: fc.bigInt({ min: 0n, max: 1n << 50n }),
  bytes: fc.oneof(fc.integer({ min: 400, max: 2_000 }), fc.integer({ min: 1, max: 8e6 })),
});

suite('a walk', () => {
  test('returns every log of its range once, newest first', () => {
    const logs = fc.uniqueArray(anyLog, { selector: (log) => `${log.timeNanos} ${log.tie}` });
    const range = fc.record(
      {
        fromNanos: fc.bigInt({ min: 0n, max: nowNanos }),
        untilNanos: fc.bigInt({ min: 0n, max: nowNanos + 20n * second }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(logs, range, (all, asked) => {
        const { seen, sorted } = walkAll(all, asked, 16e6);
        const inRange = sorted
          .filter(({ timeNanos }) => timeNanos >= (asked.fromNanos ?? 0n))
          .filter(({ timeNanos }) => timeNanos < (asked.untilNanos ?? 1n << 63n));
        assert.deepEqual(seen, inRange);
      }),
    );
  });

  test('returns logs of one time once over many statements', () => {
    const logs = Array.from({ length: 1_000 }, (_, i) => ({
      timeNanos: nowNanos,
      tie: BigInt(i),
      bytes: 500_000,
    }));
    const { seen, sorted } = walkAll(logs, {}, 16e6);
    assert.deepEqual(seen, sorted);
  });

  test('reads many small logs at once and crosses gaps quickly', () => {
    const dense = Array.from({ length: 20_000 }, (_, i) => ({
      timeNanos: nowNanos - BigInt(i) * 1_000_000n,
      tie: 0n,
      bytes: 500,
    }));
    const ancient = { timeNanos: 5n, tie: 0n, bytes: 500 };
    const { seen, statements } = walkAll([...dense, ancient], {}, 16e6);
    assert.equal(seen.length, 20_001);
    assert.ok(statements < 40, `${statements} statements`);
  });
});

suite('a statement over a limit', () => {
  test('of size requests fewer rows, down to one', () => {
    const rows: number[] = [];
    let point: WalkPoint | undefined = { ...walkStart, rows: 100 };
    for (; point !== undefined; point = walkSlower(point, 'size')) rows.push(point.rows);
    assert.deepEqual(rows, [100, 13, 2, 1]);
  });

  test('of effort narrows the window, which then widens again', () => {
    const wide = { ...walkStart, widthNanos: 4_000n * second };
    const slower = walkSlower(wide, 'effort')!;
    assert.equal(slower.widthNanos, 1_000n * second);
    const filter = {} as LogFilter;
    const window = walkWindow(filter, slower, nowNanos)!;
    const found = { window, rows: 0, bytes: 0, last: undefined };
    const next = walkOn({ filter, limit: 10 }, slower, found, nowNanos)!;
    assert.equal(next.widthNanos, 1_250n * second);
    assert.equal(walkSlower({ ...wide, widthNanos: second }, 'effort'), undefined);
  });
});
