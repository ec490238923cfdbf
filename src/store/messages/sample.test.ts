/** How often the logs of a sample are counted and read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistogramPlan, LogFilter } from '../../model/plan.ts';
import { readSamples } from './sample.ts';

const maxRows = 100;
const toPlan = (filter: Partial<LogFilter>): HistogramPlan => ({
  filter: {
    accountId: 'a',
    streams: [],
    fromNanos: undefined,
    untilNanos: undefined,
    equal: new Map(),
    labels: [],
    search: [],
    ...filter,
  },
  startMs: 0,
  endMs: 1_000,
  buckets: 10,
  groupBy: undefined,
  topK: 1,
});
const plain = toPlan({});
const phrase = toPlan({ search: [{ text: 'a phrase', exclude: false }] });

async function readAs(plans: readonly HistogramPlan[], matching: number) {
  const seen = { counts: 0, reads: [] as (readonly number[])[] };
  const { samples, result } = await readSamples(plans, {
    maxRows,
    countLogs: async () => {
      seen.counts += 1;
      return { counts: [matching], groups: undefined };
    },
    read: async (own) => {
      seen.reads.push(own.map(({ total }) => total));
      return own.map(({ total }) => (total > maxRows ? maxRows : Math.min(matching, 150)));
    },
    sampledOf: (sampled) => sampled,
  });
  return { ...seen, totals: samples.map(({ total }) => total), result };
}

test('the few logs of a phrase are read without being counted', async () => {
  const { counts, reads, result } = await readAs([phrase, phrase], maxRows);
  assert.deepEqual([counts, reads, result], [0, [[0, 0]], [maxRows, maxRows]]);
});

test('many logs of a phrase are counted, then sampled', async () => {
  const { counts, reads, totals } = await readAs([phrase], 5_000);
  assert.deepEqual([counts, reads, totals], [1, [[0], [5_000]], [5_000]]);
});

test('logs that counts by time can count are read once', async () => {
  const { counts, reads } = await readAs([plain, plain], 5_000);
  assert.deepEqual([counts, reads], [2, [[5_000, 5_000]]]);
});
