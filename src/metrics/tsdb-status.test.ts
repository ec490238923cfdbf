/** Counts of series as Prometheus tells them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTsdbStatus } from './tsdb-status.ts';

test('lists the largest metrics, labels and pairs first', () => {
  const series = [
    [
      ['__name__', 'up'],
      ['job', 'a'],
      ['instance', 'one'],
    ],
    [
      ['__name__', 'up'],
      ['job', 'a'],
      ['instance', 'two'],
    ],
    [
      ['__name__', 'down'],
      ['job', 'a'],
      ['instance', 'three'],
    ],
  ] as const;
  assert.deepEqual(toTsdbStatus(series, { fromMs: 1, untilMs: 2, limit: 2 }), {
    headStats: { numSeries: 3, numLabelPairs: 6, chunkCount: 0, minTime: 1, maxTime: 2 },
    seriesCountByMetricName: [
      { name: 'up', value: 2 },
      { name: 'down', value: 1 },
    ],
    labelValueCountByLabelName: [
      { name: 'instance', value: 3 },
      { name: '__name__', value: 2 },
    ],
    memoryInBytesByLabelName: [
      { name: 'instance', value: 11 },
      { name: '__name__', value: 6 },
    ],
    seriesCountByLabelValuePair: [
      { name: 'job=a', value: 3 },
      { name: '__name__=up', value: 2 },
    ],
  });
});
