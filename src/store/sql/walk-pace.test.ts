/** A walk meets every log once, whatever the densities, the sizes and the refusals on its way. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { LogPosition } from '../../model/log-id.ts';
import type { LogFilter, WalkPoint } from '../../model/plan.ts';
import { walkOn, walkSlower, walkStart, walkWindow } from './walk-pace.ts';

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

/** Newest first; a statement of more bytes is refused, as the engine would. */
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

const second = 1_000_000_000n;
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
  test('gives every log of its range once, newest first', () => {
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

  test('gives logs of one time once, over many statements', () => {
    const logs = Array.from({ length: 1_000 }, (_, i) => ({
      timeNanos: nowNanos,
      tie: BigInt(i),
      bytes: 500_000,
    }));
    const { seen, sorted } = walkAll(logs, {}, 16e6);
    assert.deepEqual(seen, sorted);
  });

  test('reads much at once where logs are small, and crosses gaps quickly', () => {
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

suite('a refusal', () => {
  test('of size asks for fewer rows, until there is one', () => {
    const rows: number[] = [];
    let point: WalkPoint | undefined = { ...walkStart, rows: 100 };
    for (; point !== undefined; point = walkSlower(point, 'size')) rows.push(point.rows);
    assert.deepEqual(rows, [100, 13, 2, 1]);
  });

  test('of effort looks at less of history, and at more again by and by', () => {
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
