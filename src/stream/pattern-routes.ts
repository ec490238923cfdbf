/** Logs grouped by the template of their message. */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { encodeLogId } from '../model/log-id.ts';
import type { HistogramPlan } from '../model/plan.ts';
import type { MessagesResult, SampledMessages } from '../model/sample-plan.ts';
import type { ReadRoute } from '../model/read-route.ts';
import type { ReadContextSource } from '../model/readable-streams.ts';
import { describe, maxMessageLength } from '../patterns/describe.ts';
import { mineTemplates, type Template } from '../patterns/mine.ts';
import { integer } from '../std/parse-query.ts';
import type { Store } from '../store/port.ts';
import { logRead } from './log-read.ts';
import { planSample } from './plan.ts';
import { filters, recentRange, recentRangeOf } from './requests.ts';
import { isoTime } from './responses.ts';
import { toIsoMillis } from './timestamps.ts';
import { bucketEdges } from './to-responses.ts';

const maxPatterns = 200;

const patternsQuery = z.strictObject({
  ...filters,
  ...recentRange,
  limit: integer(1, maxPatterns, 'Patterns, the most frequent first; default 50.').default(50),
  buckets: integer(1, 100, 'Parts of the range for counts over time; default 24.').default(24),
});

const pattern = z.object({
  template: z.string().meta({
    description: 'The message, each variable as <name>; … where longer messages were cut.',
    examples: ['connection from <ip> closed'],
  }),
  query: z
    .string()
    .describe(
      'Finds the logs of this template, in the query language; -(…) around it excludes them.',
    ),
  count: z.int().describe('Logs in the sample.'),
  share: z.number().describe('Part of the sample, 0 to 1.'),
  severities: z.record(z.string(), z.int()),
  counts: z.array(z.int()).describe('Logs in the sample by part of the range.'),
  firstSeen: isoTime,
  lastSeen: isoTime,
  sample: z
    .object({ logId: z.string().meta({ format: 'uuid' }), timestamp: isoTime, message: z.string() })
    .describe(`The last log; ${maxMessageLength} characters of its message.`),
  variables: z.array(
    z.object({
      name: z.string(),
      values: z
        .array(z.object({ value: z.string(), share: z.number() }))
        .describe('The most frequent values, with their estimated share.'),
      distinct: z.int().describe('Different values that were seen.'),
    }),
  ),
});

const patternsResponse = z.object({
  startTime: isoTime,
  endTime: isoTime,
  patterns: z.array(pattern),
  other: z.int().describe('Logs in the sample with none of these templates.'),
  sampled: z.int().describe('Logs that were looked at.'),
  total: z.int().describe('Logs that match.'),
  exact: z.boolean().describe('Whether the sample has every log that matches.'),
});

type PatternsResponse = z.output<typeof patternsResponse>;

export interface PatternParts extends ReadContextSource {
  readonly store: Pick<Store, 'messages'>;
}

export function createPatternRoutes(parts: PatternParts): readonly ReadRoute[] {
  return [
    logRead(parts, {
      path: '/api/v1/patterns',
      operationId: 'getPatterns',
      summary: 'Logs grouped by the template of their message',
      description:
        'Reads at most about 50,000 logs, spread over the range, and 500 characters of each ' +
        'message. The range is the hour before untilTime where sinceTime is absent.',
      // The answer has messages.
      scope: 'logs:read',
      query: patternsQuery,
      response: patternsResponse,
      async answer(query, context, { reading }) {
        const plan = planSample(context, { ...query, ...recentRangeOf(query, context.nowMs) });
        const result = await parts.store.messages(plan, ...reading);
        return toPatternsResponse(plan, result, query.limit);
      },
    }),
  ];
}

async function toPatternsResponse(
  plan: HistogramPlan,
  { groups, sampled, total }: MessagesResult,
  limit: number,
): Promise<PatternsResponse> {
  const edges = bucketEdges(plan);
  const counted = (await mineTemplates(groups)).map((template) => ({
    template,
    count: template.members.reduce((sum, member) => sum + groups[member]!.count, 0),
  }));
  const listed = counted.sort((a, b) => b.count - a.count).slice(0, limit);
  const inPatterns = listed.reduce((sum, { count }) => sum + count, 0);
  const patterns: PatternsResponse['patterns'] = [];
  for (const { template, count } of listed) {
    const found = await toPattern(template, groups, plan.buckets);
    patterns.push({ ...found, count, share: count / sampled });
    // Each may have thousands of messages.
    await setImmediate();
  }
  return {
    startTime: edges[0]!,
    endTime: edges.at(-1)!,
    patterns,
    other: sampled - inPatterns,
    sampled,
    total,
    exact: sampled === total,
  };
}

async function toPattern(template: Template, groups: readonly SampledMessages[], buckets: number) {
  const members = template.members.map((member) => groups[member]!);
  const severities = new Map<string, number>();
  const counts = Array.from({ length: buckets }, () => 0);
  for (const group of members) {
    for (const [severity, count] of group.severities) {
      severities.set(severity, (severities.get(severity) ?? 0) + count);
    }
    for (const [bucket, count] of group.buckets) counts[bucket]! += count;
  }
  const first = members.reduce((a, b) => (b.firstNanos < a.firstNanos ? b : a));
  const last = members.reduce((a, b) => (b.last.timeNanos > a.last.timeNanos ? b : a));
  const { text, query, variables } = await describe(template, groups);
  const lastSeen = toIsoMillis(last.last.timeNanos);
  return {
    template: text,
    query,
    severities: Object.fromEntries([...severities].sort(([, a], [, b]) => b - a)),
    counts,
    firstSeen: toIsoMillis(first.firstNanos),
    lastSeen,
    sample: { logId: encodeLogId(last.last), timestamp: lastSeen, message: last.lastText },
    variables: variables.map(({ values, ...variable }) => ({ ...variable, values: [...values] })),
  };
}
