/** Statistics of logs by time and groups: parameters, plan and answers. Pure. */
import { z } from 'zod';
import { AppError } from '../../model/errors.ts';
import type { GroupField } from '../../model/log-fields.ts';
import type { Stat, StatsPlan, StatsResult } from '../../model/plan.ts';
import type { ReadContext } from '../../model/readable-streams.ts';
import { parseDuration } from '../../promql/parser/numbers.ts';
import { toGroupField } from '../../query/fields.ts';
import { integer, list, parsed } from '../../std/parse-query.ts';
import { groupFieldForm, parseGroupFields, text } from '../parameters.ts';
import { toBucketRange, toFilter } from '../plan.ts';
import { bucketRange, filters } from '../requests.ts';

const maxStats = 10;
const maxBy = 3;
export const maxGroups = 1_000;
export const maxSteps = 11_000;
export const maxPoints = 50_000;

/** As it was named, for the answer. */
interface NamedStat {
  readonly name: string;
  /** `rate` is a count, divided by seconds. */
  readonly isRate: boolean;
  readonly stat: Stat;
}

const ops = ['sum', 'avg', 'min', 'max', 'uniq'] as const;
const statForm =
  `count, rate, or a function of a field: count, ${ops.join(', ')}, or a percentile such as p95 ` +
  `or p99.9, for example p95(label.duration_ms); a field is ${groupFieldForm}`;
const byForm = `1 to ${maxBy} fields separated by commas, each ${groupFieldForm}`;

export const statsQuery = z.strictObject({
  ...filters,
  ...bucketRange,
  stat: list(
    parsed(parseStats, statForm, text()).meta({ example: 'count,p95(label.duration_ms)' }),
    `What to compute, separated by commas or repeated, at most ${maxStats}; default count. ` +
      'Numbers are of values that are finite numbers. The first one ranks the groups.',
  ),
  by: parsed((value) => parseGroupFields(value, maxBy), byForm)
    .optional()
    .meta({ description: `Groups: ${byForm}.`, example: 'service,customer.id' }),
  step: parsed(parseStep, 'a duration of at least 1ms: seconds, or such as 30s, 5m or 1h')
    .optional()
    .meta({
      description:
        'Length of the steps of time, which begin at its multiples; default: one for the range.',
      example: '5m',
    }),
  limit: integer(
    1,
    maxGroups,
    'Groups with the highest values; the logs of all others are one more. Default 10.',
  ).default(10),
  exact: z
    .enum(['true', 'false'], { error: 'true or false' })
    .default('false')
    .describe(
      'true: percentiles of all logs, however many. Default false: percentiles alone, of a ' +
        'label with many values in more than 800,000 logs, are of a sample.',
    ),
  format: z
    .enum(['rows', 'prometheus'], { error: 'rows or prometheus' })
    .default('rows')
    .describe('prometheus: a vector or, with step, a matrix. Default rows.'),
});

type StatsQuery = z.output<typeof statsQuery>;

const row = z.object({
  time: z.string().meta({ format: 'date-time', description: 'Start of the step.' }),
  by: z.record(z.string(), z.string()).describe('Value of each field of by.'),
  other: z.literal(true).optional().describe('The logs of all groups not listed.'),
  values: z
    .record(z.string(), z.number().nullable())
    .describe('Each stat; null where no log has a number.'),
});

const sample = z.tuple([z.number(), z.string()]).describe('Unix seconds and value.');
const labels = z.record(z.string(), z.string());

const rowsResponse = z.object({
  startTime: z.string().meta({ format: 'date-time' }),
  endTime: z.string().meta({ format: 'date-time' }),
  exact: z
    .boolean()
    .describe(
      'Whether percentiles are exact, not of a sample of the logs or of the values that fit in ' +
        'memory. uniq is exact up to 65536 values and within about 1 % above.',
    ),
  sampled: z
    .int()
    .optional()
    .describe('Logs in the sample of which percentiles are; absent where all logs were read.'),
  rows: z.array(row).describe('Groups by rank, each by time. Steps without logs have no row.'),
});

const prometheusResponse = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.enum(['vector', 'matrix']),
    result: z.array(
      z.union([
        z.object({ metric: labels, value: sample }),
        z.object({ metric: labels, values: z.array(sample) }),
      ]),
    ),
  }),
});

export const statsResponse = z.union([rowsResponse, prometheusResponse]);

export type StatsRows = z.output<typeof rowsResponse>;
type PrometheusResponse = z.output<typeof prometheusResponse>;

/** Commas within parentheses belong to the key of a label. */
function parseStats(value: string): NamedStat[] | undefined {
  const stats = value.split(/,(?![^(]*\))/).map((one) => parseStat(one.trim()));
  return stats.every((stat) => stat !== undefined) ? stats : undefined;
}

function parseStat(name: string): NamedStat | undefined {
  const [, op, fieldName] = /^([a-z]+[\d.]*)(?:\((.+)\))?$/s.exec(name) ?? [];
  if (op === undefined) return undefined;
  if (fieldName === undefined) {
    const isCount = op === 'count' || op === 'rate';
    if (!isCount) return undefined;
    return { name, isRate: op === 'rate', stat: { op: 'count', field: undefined } };
  }
  const field = toGroupField(fieldName.trim());
  const stat = field && toStat(op, field);
  return stat && { name, isRate: false, stat };
}

function toStat(op: string, field: GroupField): Stat | undefined {
  if (op === 'count') return { op, field };
  const plain = ops.find((one) => one === op);
  if (plain !== undefined) return { op: plain, field };
  const [, percent] = /^p(\d{1,2}(?:\.\d{1,4})?)$/.exec(op) ?? [];
  // Of the digits, since 0.999 is not 99.9 / 100.
  return percent === undefined
    ? undefined
    : { op: 'quantile', field, quantile: Number(`${percent}e-2`) };
}

/** Milliseconds. */
function parseStep(value: string): number | undefined {
  const seconds = parseDuration(value) ?? (/^\d+(?:\.\d+)?$/.test(value) ? Number(value) : 0);
  const stepMs = Math.round(seconds * 1000);
  return stepMs >= 1 ? stepMs : undefined;
}

function namedStats({ stat }: StatsQuery): readonly NamedStat[] {
  const stats = stat?.flat() ?? [];
  return stats.length === 0 ? parseStats('count')! : stats;
}

/** @throws AppError `malformed`, `not_found` */
export function planStats(context: ReadContext, query: StatsQuery): StatsPlan {
  const { step, by = [], limit } = query;
  const range = toBucketRange(query);
  const stats = namedStats(query);
  if (stats.length > maxStats) {
    throw malformed('stat', `cannot compute ${stats.length} stats: at most ${maxStats}`);
  }
  const startMs = step === undefined ? range.startMs : Math.floor(range.startMs / step) * step;
  const endMs = step === undefined ? range.endMs : Math.ceil(range.endMs / step) * step;
  const buckets = step === undefined ? 1 : (endMs - startMs) / step;
  const groups = by.length === 0 ? 1 : limit;
  if (buckets > maxSteps) {
    throw malformed('step', `cannot answer with ${buckets} steps, at most ${maxSteps}: raise step`);
  }
  if (buckets * groups > maxPoints) {
    const points = `${buckets} steps of ${groups} groups`;
    throw malformed(
      'limit',
      `cannot answer with ${points}, at most ${maxPoints} in all: raise step or lower limit`,
    );
  }
  return {
    filter: toFilter(context, { ...query, sinceTime: query.startTime, untilTime: query.endTime }),
    startMs,
    endMs,
    buckets,
    stats: stats.map(({ stat }) => stat),
    by: by.map(({ field }) => field),
    limit,
    isExact: query.exact === 'true',
  };
}

function malformed(parameter: string, message: string): AppError {
  return new AppError('malformed', message, { parameter });
}

interface Series {
  readonly by: readonly (readonly [name: string, value: string])[];
  readonly isRest: boolean;
  readonly points: readonly { readonly timeMs: number; readonly values: (number | null)[] }[];
}

export function toStatsResponse(
  query: StatsQuery,
  plan: StatsPlan,
  result: StatsResult,
): StatsRows | PrometheusResponse {
  const series = toSeries(query, plan, result);
  const names = namedStats(query).map(({ name }) => name);
  if (query.format === 'prometheus') return toPrometheus(plan, series, names, query);
  return {
    startTime: new Date(plan.startMs).toISOString(),
    endTime: new Date(plan.endMs).toISOString(),
    exact: result.isExact,
    ...(result.sampled !== undefined && { sampled: result.sampled }),
    rows: series.flatMap(({ by, isRest, points }) =>
      points.map(({ timeMs, values }) => ({
        time: new Date(timeMs).toISOString(),
        by: Object.fromEntries(by),
        ...(isRest && { other: true as const }),
        values: Object.fromEntries(names.map((name, i) => [name, values[i]!])),
      })),
    ),
  };
}

function toSeries(query: StatsQuery, plan: StatsPlan, { groups }: StatsResult): Series[] {
  const { by = [], step } = query;
  const named = namedStats(query);
  const widthMs = (plan.endMs - plan.startMs) / plan.buckets;
  const toPoint = (bucket: number, values: readonly (number | null)[]) => {
    const timeMs = plan.startMs + bucket * widthMs;
    const seconds = secondsWithin(query, timeMs, timeMs + widthMs);
    return {
      timeMs,
      values: named.map(({ isRate }, i) => (isRate ? values[i]! / seconds : values[i]!)),
    };
  };
  // One value over the range is 0 without logs; elsewhere their absence is that of a point.
  const ofNoLogs = named.map(({ stat: { op } }) => (op === 'count' || op === 'uniq' ? 0 : null));
  const empty = by.length === 0 && step === undefined ? [toPoint(0, ofNoLogs)] : [];
  return groups.map(({ values, points }) => ({
    by: values === undefined ? [] : by.map(({ name }, i) => [name, values[i]!] as const),
    isRest: values === undefined,
    points: points.length === 0 ? empty : points.map((one) => toPoint(one.bucket, one.values)),
  }));
}

/** The first and the last step may be cut by the range. */
function secondsWithin({ startTime, endTime }: StatsQuery, fromMs: number, untilMs: number) {
  const from = Math.max(fromMs, Number(startTime) / 1e6);
  return (Math.min(untilMs, Number(endTime) / 1e6) - from) / 1000;
}

/** Fields as names of Prometheus labels, all different. */
export function toLabelNames(fields: readonly string[]): string[] {
  const names: string[] = [];
  for (const field of fields) {
    const name = field.replace(/[^a-zA-Z0-9_]/g, '_').replace(/^\d/, '_$&');
    names.push(names.includes(name) ? `${name}_${names.length + 1}` : name);
  }
  return names;
}

function toPrometheus(
  plan: StatsPlan,
  series: readonly Series[],
  names: readonly string[],
  { step, by: fields = [] }: StatsQuery,
): PrometheusResponse {
  const isMatrix = step !== undefined;
  const labelNames = toLabelNames(fields.map(({ name }) => name));
  type Result = PrometheusResponse['data']['result'];
  const result = names.flatMap((name, i) =>
    series.flatMap(({ by, isRest, points }): Result => {
      const metric: Record<string, string> = {
        __name__: name,
        // An empty label is no label in Prometheus.
        ...Object.fromEntries(
          by.flatMap(([, value], at) => (value === '' ? [] : [[labelNames[at]!, value]])),
        ),
        ...(isRest && { other: 'true' }),
      };
      const values = points.flatMap(({ timeMs, values: all }): [number, string][] => {
        const value = all[i]!;
        if (value === null) return [];
        return [[(isMatrix ? timeMs : plan.endMs) / 1000, String(value)]];
      });
      if (values.length === 0) return [];
      return isMatrix ? [{ metric, values }] : [{ metric, value: values[0]! }];
    }),
  );
  return { status: 'success', data: { resultType: isMatrix ? 'matrix' : 'vector', result } };
}
