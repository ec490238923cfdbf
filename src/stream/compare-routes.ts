/** Fields and labels whose values differ between two ranges or two queries. */
import { z } from 'zod';
import { AppError } from '../model/errors.ts';
import { type GroupField, nameOfField } from '../model/log-fields.ts';
import type { HistogramPlan } from '../model/plan.ts';
import type { ComparisonPlan, ComparisonResult } from '../model/sample-plan.ts';
import type { ReadRoute } from '../model/read-route.ts';
import type { ReadContext, ReadContextSource } from '../model/readable-streams.ts';
import { toTarget } from '../query/fields.ts';
import type { Query } from '../query/parse.ts';
import { printGroup } from '../query/print.ts';
import { integer } from '../std/parse-query.ts';
import type { Store } from '../store/port.ts';
import { rankDifferences } from './differences.ts';
import { logRead } from './log-read.ts';
import { timestamp } from './parameters.ts';
import { planSample, readQuery } from './plan.ts';
import { filters, recentRange, recentRangeOf } from './requests.ts';
import { isoTime } from './responses.ts';
import { bucketEdges } from './to-responses.ts';

const compareQuery = z.strictObject({
  ...filters,
  ...recentRange,
  baselineFrom: timestamp(
    'Start of the baseline; default: as long before its end as the range is, or with ' +
      'baselineQuery alone the start of the range.',
  ).optional(),
  baselineTo: timestamp(
    'End of the baseline, exclusive; default: the start of the range, or with baselineFrom as ' +
      'long after it as the range is, or with baselineQuery alone the end of the range.',
  ).optional(),
  baselineQuery: filters.query.meta({
    description:
      'Takes the place of query for the baseline, which has the same range if no other is given; ' +
      'default: query. Fields that the two queries name are not compared.',
    examples: ['-severity:error'],
  }),
  limit: integer(1, 100, 'Values, those with the greatest effect first; default 20.').default(20),
});

type CompareQuery = z.output<typeof compareQuery>;

const side = z.object({
  startTime: isoTime,
  endTime: isoTime,
  sampled: z.int().describe('Logs that were looked at.'),
  total: z.int().describe('Logs that match.'),
});

const count = z.int().describe('Logs in the sample.');
const share = z.number().describe('Part of the sample, 0 to 1.');

const difference = z.object({
  field: z.string().meta({ examples: ['service', 'label.customer.id'] }),
  value: z.string(),
  query: z.string().describe('Finds logs with this value, in the query language.'),
  count,
  share,
  baselineCount: count,
  baselineShare: share,
  effect: z
    .number()
    .describe('How well the value predicts the set of a log: 0 not at all, 1 completely.'),
  g: z.number().describe('G of the 2x2 table of logs with and without the value.'),
  p: z
    .number()
    .describe('Chance of such a G without a difference, times the number of tests; at most 1.'),
});

const compareResponse = z.object({
  differences: z.array(difference),
  selection: side,
  baseline: side,
  tested: z.int().describe('Values that were compared.'),
  exact: z.boolean().describe('Whether both samples have every log that matches.'),
});

type CompareResponse = z.output<typeof compareResponse>;

export interface CompareParts extends ReadContextSource {
  readonly store: Pick<Store, 'compare'>;
}

export function createCompareRoutes(parts: CompareParts): readonly ReadRoute[] {
  return [
    logRead(parts, {
      path: '/api/v1/compare',
      operationId: 'compareLogs',
      summary: 'Values of fields and labels that differ between two ranges or two queries',
      description:
        'Reads at most about 20,000 logs of each, spread over its range. The range is the hour ' +
        'before untilTime where sinceTime is absent, and the baseline is as long before it.',
      scope: 'analytics:read',
      query: compareQuery,
      response: compareResponse,
      async answer(query, context, { reading }) {
        const plan = planComparison(context, query);
        return toCompareResponse(plan, await parts.store.compare(plan, ...reading), query);
      },
    }),
  ];
}

function planComparison(context: ReadContext, query: CompareQuery): ComparisonPlan {
  const range = recentRangeOf(query, context.nowMs);
  const baseline = baselineRangeOf(query, range);
  const asked = query.baselineQuery ?? query.query;
  return {
    selection: planSample(context, { ...query, ...range }),
    baseline: planSample(context, { ...query, ...baseline, query: asked }),
  };
}

type Range = ReturnType<typeof recentRangeOf>;

/** @throws AppError `malformed` for an empty range */
function baselineRangeOf(
  { baselineFrom, baselineTo, baselineQuery }: CompareQuery,
  range: Range,
): Range {
  const length = range.endTime - range.startTime;
  if (baselineFrom === undefined && baselineTo === undefined && baselineQuery !== undefined) {
    return range;
  }
  const endTime =
    baselineTo ?? (baselineFrom === undefined ? range.startTime : baselineFrom + length);
  const startTime = baselineFrom ?? (endTime > length ? endTime - length : 0n);
  if (startTime >= endTime) {
    throw new AppError(
      'malformed',
      'cannot compare with an empty range: baselineTo must be after baselineFrom',
      { parameter: 'baselineTo' },
    );
  }
  return { startTime, endTime };
}

function toCompareResponse(
  plan: ComparisonPlan,
  result: ComparisonResult,
  { query, baselineQuery, limit }: CompareQuery,
): CompareResponse {
  const { tested, sampled, total } = result;
  const named = baselineQuery === undefined ? [] : [query, baselineQuery].flatMap(fieldsOf);
  const differences = rankDifferences(result).filter(({ field }) => !named.includes(field));
  return {
    differences: differences.slice(0, limit).map(({ field, value, ...one }) => ({
      field: nameOfField(field),
      value,
      query: printGroup(field, value),
      count: one.counts[0],
      share: one.shares[0],
      baselineCount: one.counts[1],
      baselineShare: one.shares[1],
      effect: one.effect,
      g: one.g,
      p: one.p,
    })),
    selection: { ...rangeOf(plan.selection), sampled: sampled[0], total: total[0] },
    baseline: { ...rangeOf(plan.baseline), sampled: sampled[1], total: total[1] },
    tested,
    exact: sampled.every((one, i) => one === total[i]),
  };
}

function rangeOf(plan: HistogramPlan) {
  const [startTime, endTime] = bucketEdges(plan) as [string, string];
  return { startTime, endTime };
}

/** That a query names: their values differ since the queries do. */
function fieldsOf(text: string | undefined): GroupField[] {
  const query = text === undefined ? undefined : readQuery(text);
  return query === undefined ? [] : fieldsIn(query);
}

function fieldsIn(query: Query): GroupField[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.items.flatMap(fieldsIn);
    case 'not':
      return fieldsIn(query.item);
    case 'text':
      return [];
    case 'field': {
      const target = toTarget(query.key);
      if (target.kind === 'message') return [];
      if (target.kind === 'label') return [`label.${target.key}`];
      return [target.field];
    }
  }
}
