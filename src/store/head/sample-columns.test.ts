/** Columns of samples agree with a list of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SampleRange } from '../../model/metric-plan.ts';
import { createRandom } from '../../../test/harness/random.ts';
import { SampleColumns } from './sample-columns.ts';
import { type Budget, Timelines } from './timelines.ts';

function wordsOf(value: number): [low: number, high: number] {
  const words = new Uint32Array(new Float64Array([value]).buffer);
  return [words[0]!, words[1]!];
}

function timesOf({ times, from, to }: SampleRange): number[] {
  return [...times.subarray(from, to)];
}

function timelines(budget: Budget = { samples: 0 }): Timelines {
  return new Timelines(budget);
}

test('agrees with a list, and earlier views stay as they are', () => {
  const random = createRandom(7);
  const budget: Budget = { samples: 0 };
  const list: [time: number, value: number][] = [
    [100, 1],
    [115, 2],
  ];
  const columns = new SampleColumns(
    100,
    Float64Array.from(list, ([time]) => time),
    Float64Array.from(list, ([, value]) => value),
    timelines(budget),
  );
  const first = columns.between(0, 1000);
  for (let i = 0; i < 500; i++) {
    // Now and then a gap, so that samples are not where they are expected.
    const time = list.at(-1)![0] + random.integer(1, random.next() < 0.1 ? 5_000 : 30);
    const value = random.next();
    list.push([time, value]);
    assert.ok(columns.append(time, ...wordsOf(value)));
    const from = random.integer(90, time);
    const until = from + random.integer(0, 200);
    const found = columns.between(from, until);
    const values = found.values.subarray(found.from, found.to);
    assert.deepEqual(
      timesOf(found).map((at, index) => [at, values[index]]),
      list.filter(([at]) => at >= from && at <= until),
    );
  }
  assert.deepEqual(timesOf(first), [100, 115]);
  assert.ok(budget.samples >= list.length);
  columns.drop();
  assert.equal(budget.samples, 0);
});

test('knows where values fall, unless they fall often', () => {
  const counter = new SampleColumns(0, Float64Array.of(1, 2), Float64Array.of(5, 2), timelines());
  assert.deepEqual(counter.between(0, 9).falls, [1]);
  for (const [i, value] of [2, 7, 1].entries()) counter.append(3 + i, ...wordsOf(value));
  assert.deepEqual(counter.between(0, 9).falls, [1, 4]);
  for (let i = 0; i < 40; i++) counter.append(10 + i, ...wordsOf(i % 2));
  assert.equal(counter.between(0, 99).falls, undefined);
});

test('knows whether it is complete', () => {
  const times = Float64Array.of(100, 115);
  const columns = new SampleColumns(50, times, Float64Array.of(1, Number.NaN), timelines());
  assert.ok(columns.append(115, ...wordsOf(Number.NaN)), 'the same sample again');
  assert.ok(columns.append(40, ...wordsOf(3)), 'before the columns begin');
  assert.ok(!columns.append(115, ...wordsOf(3)), 'another value at the same time');
  assert.ok(!columns.append(107, ...wordsOf(3)), 'a late sample');
  assert.deepEqual(timesOf(columns.between(0, 1000)), [100, 115]);
});

test('keeps the bits of stale markers', () => {
  const columns = new SampleColumns(0, new Float64Array(), new Float64Array(), timelines());
  columns.append(1, 2, 0x7ff00000);
  for (let time = 2; time < 100; time++) columns.append(time, ...wordsOf(1));
  const { values, from } = columns.between(1, 1);
  const bits = new DataView(values.buffer, values.byteOffset + 8 * from, 8).getBigUint64(0, true);
  assert.equal(bits, 0x7ff0000000000002n);
});

test('tells whether a stale marker was loaded or added', () => {
  const stale = new Float64Array(new BigUint64Array([0x7ff0000000000002n]).buffer);
  const columns = (...values: number[]) => {
    const times = Float64Array.from(values, (_, i) => i);
    return new SampleColumns(0, times, Float64Array.from(values), timelines());
  };
  const hasStale = (one: SampleColumns) => one.between(0, 100).hasStale;
  const without = columns(1, Number.NaN, 2);
  assert.equal(hasStale(without), false);
  without.append(9, ...wordsOf(Number.NaN));
  assert.equal(hasStale(without), false);
  without.append(10, 2, 0x7ff00000);
  without.append(11, ...wordsOf(1));
  assert.equal(hasStale(without), true);
  const loaded = new SampleColumns(0, Float64Array.of(1), stale, timelines());
  assert.equal(hasStale(loaded), true);
});

test('shares times while they are the same', () => {
  const budget: Budget = { samples: 0 };
  const all = timelines(budget);
  const loaded = (...times: number[]) =>
    new SampleColumns(0, Float64Array.from(times), new Float64Array(times.length), all);
  const columns = [loaded(1, 2, 3), loaded(1, 2), loaded(1, 2, 3, 4), loaded(1, 5)];
  const [first, shorter, longer, other] = columns as [
    SampleColumns,
    SampleColumns,
    SampleColumns,
    SampleColumns,
  ];
  const array = (one: SampleColumns) => one.between(0, 100).times;
  assert.equal(array(first), array(longer));
  assert.equal(array(shorter), array(longer));
  assert.notEqual(array(other), array(longer));
  for (const one of columns.slice(0, 3)) for (const time of [4, 5, 6]) one.append(time, 0, 0);
  assert.deepEqual(timesOf(first.between(0, 100)), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(timesOf(shorter.between(0, 100)), [1, 2, 4, 5, 6]);
  assert.deepEqual(timesOf(longer.between(0, 100)), [1, 2, 3, 4, 5, 6]);
  assert.equal(array(first), array(longer));
  for (const one of columns) one.drop();
  assert.equal(budget.samples, 0);
});
