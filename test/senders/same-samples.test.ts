/** The comparison of samples detects each kind of difference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSample, type SeriesSamples } from '../harness/prompb.ts';
import { differences } from './same-samples.ts';

const labels = { __name__: 'up', job: 'test' };
const stale = { timeMs: 3n, bits: 0x7ff0000000000002n };
const series = (...samples: SeriesSamples['samples']): SeriesSamples[] => [
  { labels, samples, histograms: [] },
];
const here = series(toSample(1, 1), toSample(2, NaN), stale);

const cases: readonly (readonly [string, readonly SeriesSamples[], RegExp])[] = [
  ['a sample is missing', series(toSample(1, 1), toSample(2, NaN)), /lacks 7ff0000000000002 at 3/],
  ['a series is missing', [], /lacks 3ff0000000000000 at 1/],
  ['a sample is there twice', series(...(here[0]?.samples ?? []), stale), /twice/],
  ['a sample is too many', series(...(here[0]?.samples ?? []), toSample(4, 0)), /adds 0 at 4/],
  [
    'a stale marker became another NaN',
    series(toSample(1, 1), toSample(2, NaN), { timeMs: 3n, bits: 0x7ff8000000000002n }),
    /lacks 7ff0000000000002 at 3/,
  ],
  ['a label is another', [{ ...here[0]!, labels: { ...labels, job: 'other' } }], /"other".* adds/],
];

for (const [name, there, expected] of cases) {
  test(name, () => assert.match(differences(here, there).join('\n'), expected));
}

test('ignores the order of labels', () => {
  const turned = { job: 'test', __name__: 'up' };
  assert.deepEqual(differences(here, [{ ...here[0]!, labels: turned }]), []);
});
