/** Steps and segments of ranges and buckets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clipped, ticksOf, wholeSegments, within } from './ticks.ts';

test('ends and edges beside all logs cut no step', () => {
  const range = { fromNanos: 70_000_000n, untilNanos: 200_000_000n };
  const inner = within(range, [70, 100, 200], [100, 199]);
  assert.deepEqual(inner.edges, [-Infinity, -Infinity, Infinity]);
  assert.deepEqual(ticksOf(inner.range, inner.edges, 60).cut, []);
  const cutting = within({ ...range, fromNanos: 100_000_001n }, [100, 101, 199, 201], [100, 200]);
  assert.deepEqual(ticksOf(cutting.range, cutting.edges, 60).cut, [60, 180]);
  assert.deepEqual(cutting.edges, [-Infinity, 101, 199, Infinity]);
});

test('whole steps and the segments of cut ones have each tick of a bucket once', () => {
  const plan = fc.record({
    from: fc.integer({ min: 0, max: 50 }),
    length: fc.integer({ min: 0, max: 50 }),
    edges: fc.uniqueArray(fc.integer({ min: 0, max: 100 }), { minLength: 2, maxLength: 8 }),
    step: fc.constantFrom(1, 2, 7, 30),
  });
  fc.assert(
    fc.property(plan, ({ from, length, step, ...rest }) => {
      const edges = rest.edges.toSorted((a, b) => a - b);
      const ends = [Math.max(from, edges[0]!), Math.min(from + length, edges.at(-1)!)] as const;
      if (ends[0] > ends[1]) return;
      const range = {
        fromNanos: BigInt(ends[0]) * 1_000_000n,
        untilNanos: BigInt(ends[1]) * 1_000_000n,
      };
      const whole = ticksOf(range, edges, step);
      const exact = wholeSegments(ticksOf(range, [], 1), edges, 1);
      const all = [wholeSegments(whole, edges, step)];
      for (const tick of whole.cut) all.push(clipped(exact, tick, tick + step));
      const found = all.flatMap((segments) =>
        segments.from.flatMap((first, i) =>
          Array.from({ length: segments.until[i]! - first }, (_, k) => {
            return `${first + k} ${segments.bucket[i]!}`;
          }),
        ),
      );
      const expected = Array.from({ length: ends[1] - ends[0] }, (_, k) => {
        const tick = ends[0] + k;
        return `${tick} ${edges.findLastIndex((edge) => edge <= tick)}`;
      });
      assert.deepEqual(found.sort(), expected.sort());
    }),
  );
});
