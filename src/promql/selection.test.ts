/** Samples of a range, as functions get them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from './parser/parser.ts';
import { runQuery } from './query.ts';

test('a counter that restarts behind a stale marker has fallen', async () => {
  const values = Float64Array.of(10, 20, 0, 5, 15);
  new BigUint64Array(values.buffer)[2] = 0x7ff0000000000002n;
  const times = Float64Array.of(15_000, 30_000, 45_000, 60_000, 75_000);
  const samples = { labels: [], times, values, from: 0, to: 5, hasStale: true, falls: [] };
  const source = {
    select: async () => [{ ...samples, histogramTimes: new Float64Array(), histograms: [] }],
  };
  const text = 'increase(a[75s])';
  const answer = await runQuery(
    { text, expr: parseQuery(text), times: { startMs: 75_000, endMs: 75_000, stepMs: 0 } },
    source,
    {
      lookbackMs: 300_000,
      subqueryStepMs: 60_000,
      maxSamples: 100,
      delayedNameRemoval: false,
      deadline: Infinity,
      signal: undefined,
    },
  );
  assert.ok(answer.result.type === 'vector');
  // 10 before and 15 after the restart, in 60 s that are extrapolated to 75 s.
  assert.equal(answer.result.series[0]?.points[0]?.value, 31.25);
});
