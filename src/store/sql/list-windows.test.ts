/** The windows in which a list walks back cover its range exactly once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ListPlan } from '../../model/plan.ts';
import { listWindows } from './list-windows.ts';

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

test('the windows cover every time that the plan may show exactly once, in its direction', () => {
  fc.assert(
    fc.property(planArbitrary, fc.array(time, { maxLength: 20 }), (plan, times) => {
      const windows = [...listWindows(plan, now)];
      assert.ok(windows.length <= 12, `${windows.length} windows`);
      for (const at of times) {
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

test('a page of recent logs begins with seconds, and history ends in one window', () => {
  const [plan] = fc.sample(planArbitrary, { numRuns: 1, seed: 1 });
  const { filter } = plan!;
  const all = { ...filter, fromNanos: undefined, untilNanos: undefined };
  const windows = [
    ...listWindows({ ...plan!, filter: all, direction: 'older', position: undefined }, now),
  ];
  assert.deepEqual(windows[0], { fromNanos: now - 10n * second, untilNanos: undefined });
  assert.equal(windows.length, 5);
  assert.equal(windows.at(-1)!.fromNanos, 0n);
});
