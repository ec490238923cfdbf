/** How far selectors look back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SamplesPlan } from '../model/metric-plan.ts';
import { readableStreams } from '../model/readable-streams.ts';
import { evaluateQuery } from './evaluate-query.ts';
import { parsePromql } from './parse-promql.ts';

const minute = 60_000;
const day = 86_400_000;
const nowMs = Date.parse('2026-05-20T12:00:00Z');
const accountId = '7f0c2a51-6c1e-4a8e-9d0e-1f2a3b4c5d6e';

/** @returns how long before a query the read of its selector begins */
async function lookbackOf(text: string, daysAgo: number, lookbackMs?: number): Promise<number> {
  const own = {
    accountId,
    name: 'main',
    retentionDays: 400,
    createdAt: '',
    dataDeletedUntil: null,
  };
  const streams = [
    { ...own, streamId: 'a', downsampling: null },
    { ...own, streamId: 'b', downsampling: '30d:5m,180d:1h' },
  ];
  const plans: SamplesPlan[] = [];
  const store = {
    sampleColumns: async (plan: SamplesPlan) => {
      plans.push(plan);
      return [];
    },
  };
  const timeMs = nowMs - daysAgo * day;
  await evaluateQuery(
    store,
    {
      text,
      expr: parsePromql(text),
      times: { startMs: timeMs, endMs: timeMs, stepMs: 0 },
      accountId,
      streams: readableStreams({ accountId, streams, nowMs }, undefined),
      lookbackMs,
      deadline: performance.now() + 10_000,
    },
    { maxReadSeries: 10, maxReadSamples: 10, maxQuerySamples: 10 },
  );
  return timeMs - Number(plans[0]!.fromMs) + 1;
}

test('looks back as far as downsampled samples may be apart', async () => {
  assert.equal(await lookbackOf('up', 0), 5 * minute);
  assert.equal(await lookbackOf('up', 29), 5 * minute);
  assert.equal(await lookbackOf('up', 31), 10 * minute);
  assert.equal(await lookbackOf('up', 200), 65 * minute);
  assert.equal(await lookbackOf('up offset 31d', 0), 31 * day + 10 * minute);
});

test('looks back as far as the reader says, and a range as far as its window', async () => {
  assert.equal(await lookbackOf('up', 200, minute), minute);
  assert.equal(await lookbackOf('rate(up[20m])', 200), 20 * minute);
});
