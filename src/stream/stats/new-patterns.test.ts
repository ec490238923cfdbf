/** Patterns that a window has and its baseline has not, from samples of both. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { HistogramPlan } from '../../model/plan.ts';
import type { MessagesResult } from '../../model/sample-plan.ts';
import { findNewPatterns } from './new-patterns.ts';

const minuteMs = 60_000;
const atMs = 1_000 * minuteMs;
const windowMs = 5 * minuteMs;
const streamId = '6f5d2d51-8bd6-4d4a-8c1c-1f0d6f1b8a11';
const context = {
  accountId: 'account',
  streams: [{ streamId, retentionDays: 1, downsampling: null, dataDeletedUntil: null }],
  nowMs: atMs,
} as unknown as Parameters<typeof findNewPatterns>[1];

type Messages = Readonly<Record<string, number>>;

function sampleOf(messages: Messages, total?: number): MessagesResult {
  const groups = Object.entries(messages).map(([text, count]) => ({
    masked: text.replaceAll(/[A-Za-z]*[0-9][A-Za-z0-9]*/g, '0'),
    count,
    texts: [text],
    severities: [],
    buckets: [],
    firstNanos: 1n,
    last: { timeNanos: 1n, tie: 1n },
    lastText: text,
  }));
  const sampled = groups.reduce((sum, { count }) => sum + count, 0);
  return { groups, sampled, total: total ?? sampled };
}

interface Known {
  /** In all logs of the baseline, whatever its sample has. */
  readonly stored?: number;
  readonly isWanted?: (count: number) => boolean;
  /** Of the rule. */
  readonly query?: string;
}

async function find(
  found: MessagesResult,
  known: MessagesResult,
  { stored = 0, isWanted = () => true, query = 'severity>=error' }: Known = {},
) {
  const plans: HistogramPlan[] = [];
  const samples = await findNewPatterns(
    {
      messages: async (plan) => {
        plans.push(plan);
        return plans.length === 1 ? found : known;
      },
      histogram: async (plan) => {
        plans.push(plan);
        return { counts: [stored], groups: undefined };
      },
    },
    context,
    {
      rule: {
        query,
        stat: 'new_patterns',
        by: '',
        windowMs,
        baselineMs: 60 * minuteMs,
        condition: undefined,
      },
      streamId,
      atMs,
      isWanted,
    },
  );
  const ranges = plans.map(({ startMs, endMs }) => [startMs, endMs].map((ms) => ms / minuteMs));
  return { samples, ranges };
}

suite('new patterns', () => {
  test('are those of the window without a message in the baseline', async () => {
    const window = sampleOf({ 'user 7 signed in': 3, 'disk 4 failed': 2 });
    const { samples, ranges } = await find(window, sampleOf({ 'user 9 signed in': 5 }));
    assert.equal(samples.length, 1);
    const [{ labels, value, annotations }] = samples as [(typeof samples)[number]];
    assert.deepEqual(labels, { pattern: 'disk <number> failed' });
    assert.equal(value, 2);
    assert.equal(annotations?.['sample_log'], 'disk 4 failed');
    assert.match(annotations['logs_query'] ?? '', /^severity:>=error /);
    assert.deepEqual(ranges, [
      [995, 1000],
      [935, 995],
      [935, 995],
    ]);
  });

  test('are found beside a query that ends with a parenthesis or a backslash', async () => {
    for (const query of ['main(', 'C:\\', 'a OR b(']) {
      const { samples } = await find(sampleOf({ 'lease lost': 9 }), sampleOf({ 'disk 4': 1 }), {
        query,
      });
      assert.equal(samples.length, 1, query);
    }
  });

  test('are not those that only the sample of the baseline lacks', async () => {
    const window = sampleOf({ 'disk 4 failed': 2 });
    const { samples } = await find(window, sampleOf({ 'user 9 signed in': 5 }), { stored: 1 });
    assert.deepEqual(samples, []);
  });

  test('are all of a stream without a baseline, the most frequent first', async () => {
    const window = sampleOf({ 'disk 4 failed': 2, 'lease lost': 9 });
    const { samples } = await find(window, sampleOf({}));
    assert.deepEqual(
      samples.map(({ labels }) => labels['pattern']),
      ['lease lost', 'disk <number> failed'],
    );
  });

  test('have an estimated number of logs where the window is a sample', async () => {
    const { samples } = await find(sampleOf({ 'lease lost': 9 }, 90), sampleOf({}));
    assert.equal(samples[0]?.value, 90);
    assert.equal(samples[0].annotations?.['sampled'], '9 of 90 logs were looked at');
  });

  test('are bounded, and selected by the condition', async () => {
    const words = Array.from({ length: 30 }, (_, i) => 'x'.repeat(i + 1));
    const many = sampleOf(Object.fromEntries(words.map((word, i) => [`${word}: ${word}`, i + 1])));
    const { samples } = await find(many, sampleOf({}));
    assert.ok(samples.length <= 20);
    const frequent = await find(sampleOf({ 'disk 4 failed': 2, 'lease lost': 9 }), sampleOf({}), {
      isWanted: (count) => count > 5,
    });
    assert.deepEqual(
      frequent.samples.map(({ value }) => value),
      [9],
    );
  });
});
