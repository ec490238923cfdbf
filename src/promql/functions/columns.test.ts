/** Columns have the values that their functions give for each window alone. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createRandom, type Random } from '../../../test/harness/random.ts';
import { Annotations } from '../annotations.ts';
import { noLabels } from '../labels.ts';
import { RangeWindow } from '../selection.ts';
import { noTimes } from '../source.ts';
import { kind, newSeries } from '../values.ts';
import { SharedWindows, Windows } from '../windows.ts';
import { columns } from './columns.ts';
import { ExactSums } from './exact-sums.ts';
import { overTimeFunctions } from './over-time.ts';
import { RangeContext } from './range-context.ts';
import { rateFunctions } from './rate.ts';

const rangeMs = 60_000;
const steps = 100;
const looks = { first: 100_000, last: 100_000 + (steps - 1) * 7000, stepMs: 7000 };
const ranges = { looks, steps, beforeMs: rangeMs, afterMs: 0 };
const span = { start: 0, end: 0 };

/** Counters with resets, with scrapes that were missed. */
function randomSeries(random: Random, special: readonly number[]) {
  const times: number[] = [];
  const values: number[] = [];
  let value = 0;
  for (let timeMs = 0; timeMs < 800_000; timeMs += random.integer(1, 15_000)) {
    if (random.next() < 0.02) timeMs += 2 * rangeMs;
    value = random.next() < 0.1 ? 0 : value + random.integer(0, 9);
    times.push(timeMs);
    const isSpecial = special.length > 0 && random.next() < 0.2;
    values.push(isSpecial ? special[random.integer(0, special.length - 1)]! : value);
  }
  return {
    times: Float64Array.from(times),
    values: Float64Array.from(values),
    from: random.integer(0, 3),
    to: times.length - random.integer(0, 3),
  };
}

function fallsOf(values: Float64Array): number[] {
  return Array.from(values.keys()).filter((i) => values[i]! < values[i - 1]!);
}

function oneByOne(name: string, series: ReturnType<typeof randomSeries>) {
  const context = new RangeContext(
    { notes: new Annotations(''), isTurnOver: () => false, breathe: async () => undefined },
    { at: span, first: span },
    { rangeMs, extension: undefined },
  );
  const compute = { ...overTimeFunctions, ...rateFunctions }[name]!;
  const all = { ...series, labels: noLabels, histogramTimes: noTimes, histograms: [] };
  const window = new RangeWindow(all);
  return Array.from({ length: steps }, (_, step) => {
    window.endMs = looks.first + step * looks.stepMs;
    window.startMs = window.endMs - rangeMs;
    window.move(window.startMs, window.endMs);
    return window.isEmpty() ? undefined : compute(window, [], context);
  });
}

suite('columns', () => {
  for (const [name, column] of columns) {
    test(name, () => {
      const random = createRandom(7);
      const exact = new ExactSums();
      for (const special of [[], [0.1, -3, 1e9], [Number.NaN, Infinity], [-1e308, 1e308, 1e-300]]) {
        for (let i = 0; i < 10; i++) {
          const series = randomSeries(random, special);
          const cells = newSeries(noLabels, steps);
          const target = { cells, rangeSeconds: rangeMs / 1000, exact };
          const falls = i % 2 === 0 ? undefined : fallsOf(series.values);
          assert.ok(column({ ...series, falls }, new Windows(series, ranges), target));
          for (const [step, expected] of oneByOne(name, series).entries()) {
            assert.equal(cells.kinds[step], expected === undefined ? kind.none : kind.float);
            if (expected !== undefined) assertNear(cells.floats[step]!, expected as number);
          }
        }
      }
    });
  }
});

function assertNear(actual: number, expected: number): void {
  if (Object.is(actual, expected)) return;
  const difference = Math.abs(actual - expected);
  assert.ok(difference <= 1e-12 * Math.abs(expected), `${actual} is not ${expected}`);
}

test('series with the same times share their windows', () => {
  const shared = new SharedWindows(ranges);
  const { times, values } = randomSeries(createRandom(3), []);
  const whole = { times, values, from: 0, to: times.length };
  const windows = shared.of(whole);
  assert.equal(shared.of({ ...whole, values: values.slice() }), windows);
  const shorter = shared.of({ ...whole, to: 10 });
  assert.ok(Math.max(...shorter.to) <= 10);
  assert.deepEqual(shared.of(whole), windows);
});
