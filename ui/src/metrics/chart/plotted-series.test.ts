/** Series on the grid of a chart, their names, and heat maps of their buckets. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { toHeatGrid } from './heat-grid.ts';
import { gridOf, namesOf, summaryOf, toPlotted } from './plotted-series.ts';

const grid = { startMs: 10_000, endMs: 30_000, stepMs: 10_000 };

suite('series', () => {
  test('a grid has at most 300 steps, at multiples of its length', () => {
    assert.deepEqual(gridOf({ fromMs: 1234, untilMs: 3_601_234 }), {
      startMs: 15_000,
      endMs: 3_600_000,
      stepMs: 15_000,
    });
    assert.deepEqual(gridOf({ fromMs: 1234, untilMs: 1300 }), {
      startMs: 2000,
      endMs: 2000,
      stepMs: 1000,
    });
  });

  test('steps without a sample are gaps', () => {
    const values = [[10, '1'] as const, [30, '+Inf'] as const];
    const series = toPlotted([{ metric: { a: 'b' }, values }], grid, 0)[0]!;
    assert.deepEqual(series.times, [10_000, 20_000, 30_000]);
    assert.deepEqual(series.values, [1, Number.NaN, Infinity]);
  });

  test('a summary leaves out gaps, and includes infinite values', () => {
    const of = (...values: number[]) => summaryOf({ times: [], values });
    assert.deepEqual(of(1, NaN, 3, NaN), { last: 3, mean: 2, min: 1, max: 3 });
    const infinite = { last: Infinity, mean: Infinity, min: 1, max: Infinity };
    assert.deepEqual(of(1, Infinity), infinite);
    assert.deepEqual(of(NaN), { last: NaN, mean: NaN, min: NaN, max: NaN });
  });

  test('names are the labels that differ, and the letter of several queries', () => {
    const answer = [{ metric: { job: 'a', site: 'x' } }, { metric: { job: 'a', site: 'y' } }];
    const first = toPlotted(answer, grid, 0);
    assert.deepEqual([...namesOf(first, ['up']).values()], ['site=x', 'site=y']);
    const second = toPlotted([{ metric: {} }], grid, 1);
    assert.deepEqual(
      [...namesOf([...first, ...second], ['up', 'sum(up)']).values()],
      ['A: site=x', 'A: site=y', 'B: sum(up)'],
    );
  });
});

suite('heat maps', () => {
  test('classic buckets count what the smaller ones do not', () => {
    const answer = [
      ['+Inf', '7'],
      ['0.1', '2'],
      ['1', '6'],
    ].map(([le, value]) => ({ metric: { le: le! }, values: [[20, value!] as const] }));
    const heat = toHeatGrid(toPlotted(answer, grid, 0));
    assert.deepEqual(heat?.edges, [0, 0.1, 1, Infinity]);
    assert.deepEqual(
      heat?.cells.map((column) => [...column]),
      [
        [0, 0, 0],
        [2, 4, 1],
        [0, 0, 0],
      ],
    );
  });

  test('native buckets of different widths share one scale', () => {
    const answer = [
      {
        metric: {},
        histograms: [
          [10, { buckets: [[0, '1', '4', '6']] }],
          [
            20,
            {
              buckets: [
                [0, '1', '2', '3'],
                [0, '2', '4', '5'],
              ],
            },
          ],
        ] as const,
      },
    ];
    const heat = toHeatGrid(toPlotted(answer, grid, 0));
    assert.deepEqual(heat?.edges, [1, 2, 4]);
    assert.deepEqual(
      heat?.cells.map((column) => [...column]),
      [
        [3, 3],
        [3, 5],
        [0, 0],
      ],
    );
  });

  test('many rows are merged', () => {
    const buckets = Array.from({ length: 200 }, (_, at) => [0, `${at}`, `${at + 1}`, '1'] as const);
    const heat = toHeatGrid(toPlotted([{ metric: {}, histograms: [[10, { buckets }]] }], grid, 0));
    assert.equal(heat?.edges.length, 51);
    assert.equal(
      heat?.cells[0]?.reduce((a, b) => a + b, 0),
      200,
    );
  });

  test('other series have no heat map', () => {
    const series = toPlotted([{ metric: {}, values: [[10, '1']] }], grid, 0);
    assert.equal(toHeatGrid(series), undefined);
  });
});
