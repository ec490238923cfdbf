/** Positions of stacked bars. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { barEdges, bucketEdge, roundMax, shortCount, stackPaths } from './bar-layout.ts';

test('stacks bars without gaps', () => {
  const paths = stackPaths(
    [
      [10, 0],
      [10, 20],
    ],
    { width: 20, height: 100, max: 20 },
  );
  assert.deepEqual(paths, ['M0 100V50H9V100z', 'M0 50V0H9V50zM10 100V0H19V100z']);
});

test('shows a single log among a million others', () => {
  const paths = stackPaths([[1], [1_000_000]], { width: 10, height: 50, max: 1_000_000 });
  assert.equal(paths[0], 'M0 50V49H9V50z');
});

test('fills the width without overlap', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 500, max: 3000 }),
      (n, width) => {
        for (let at = 0; at < n; at += 1) {
          const { left, right } = barEdges(at, n, width);
          assert.ok(left < right);
          assert.ok(right <= (at + 1 < n ? barEdges(at + 1, n, width).left : width));
        }
      },
    ),
  );
});

test('computes bucket edges as the service does', () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((at) => bucketEdge(100, 110, at, 3)),
    [100, 103, 106, 110],
  );
});

test('rounds the maximum of the scale', () => {
  const cases = [
    [0, 1],
    [1, 1],
    [2, 2],
    [5, 6],
    [7, 8],
    [10, 10],
    [11, 20],
    [999, 1000],
  ];
  for (const [value, max] of cases) assert.equal(roundMax(value!), max);
  assert.equal(shortCount(1_250), '1.3K');
});
