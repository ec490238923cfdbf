/**
 * Answers of Prometheus' HTTP API: schemas for the OpenAPI document, which types follow and nothing
 * validates, and the functions that build them. Pure.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview
 */
import { z } from 'zod';
import { AppError, type ErrorCode } from '../model/errors.ts';
import type { Exemplar, Label, MetricMetadata } from '../model/metric-plan.ts';
import type { Problem } from '../model/protocol.ts';
import type { ReadFailure, ReadRoute } from '../model/read-route.ts';
import { toLimit } from './plan.ts';

/** A route without what all of them have in common; `path` is below Prometheus' API. */
export type MetricRoute = Omit<ReadRoute, 'method' | 'scope' | 'accountParameter' | 'failure'>;

export function envelope<Data extends z.ZodType>(data: Data) {
  return z.object({ status: z.literal('success'), data });
}

function cutEnvelope<Data extends z.ZodType>(data: Data) {
  return envelope(data).extend({
    warnings: z
      .array(z.string())
      .optional()
      .describe('Present if results were truncated to the requested limit.'),
  });
}

const labelSet = z.record(z.string(), z.string());

export const namesResponse = cutEnvelope(z.array(z.string()));
export const seriesResponse = cutEnvelope(z.array(labelSet));

const metadataData = z.record(
  z.string(),
  z.array(z.object({ type: z.string(), help: z.string(), unit: z.string() })),
);
export const metadataResponse = cutEnvelope(metadataData);

const exemplarsData = z.array(
  z.object({
    seriesLabels: labelSet,
    exemplars: z.array(
      z.object({
        labels: labelSet,
        value: z.string().describe('A number, NaN, +Inf or -Inf.'),
        timestamp: z.number().describe('Unix seconds.'),
      }),
    ),
  }),
);
export const exemplarsResponse = cutEnvelope(exemplarsData);

type MetadataData = z.output<typeof metadataData>;
type ExemplarsData = z.output<typeof exemplarsData>;

interface Success<Data> {
  readonly status: 'success';
  readonly data: Data;
  readonly warnings?: readonly string[];
}

/** Prometheus' text, which clients may look for. */
export const cutWarning = 'results truncated due to limit';

export function success<Data>(data: Data): Success<Data> {
  return { status: 'success', data };
}

/**
 * Cuts to the requested limit with a warning.
 * @param found one more than `most` where there are more.
 * @throws AppError `unavailable` for more than `most` without a requested limit
 */
export function cutTo<Item>(
  found: readonly Item[],
  requested: number | undefined,
  most: number,
): Success<Item[]> {
  const limit = toLimit(requested, most);
  if (found.length <= limit) return success([...found]);
  if (requested === undefined || requested <= 0) throw tooMany(most);
  return { ...success(found.slice(0, limit)), warnings: [cutWarning] };
}

/**
 * @param found sorted by metric; one more than `most` where there are more.
 * @throws AppError `unavailable` as `cutTo`, and where entries of the last metric are missing
 */
export function toMetadata(
  found: readonly MetricMetadata[],
  requested: { readonly limit: number | undefined; readonly perMetric: number | undefined },
  most: number,
): Success<MetadataData> {
  const byMetric = [...Map.groupBy(found, ({ name }) => name)];
  if (found.length > most && byMetric.length <= toLimit(requested.limit, most)) throw tooMany(most);
  const { data, ...rest } = cutTo(byMetric, requested.limit, most);
  const perMetric = toLimit(requested.perMetric, most);
  const entries = data.map(([name, entriesOfMetric]) => {
    const shown = entriesOfMetric.slice(0, perMetric);
    return [name, shown.map(({ type, help, unit }) => ({ type, help, unit }))] as const;
  });
  return { ...success(Object.fromEntries(entries)), ...rest };
}

function tooMany(most: number): AppError {
  return new AppError(
    'unavailable',
    `cannot answer with more than ${most} series, names or values: narrow match[] or the time ` +
      'range, ask for a limit, or raise metrics.maxReadSeries',
  );
}

/** @param found sorted by series, then time. */
export function toExemplars(found: readonly Exemplar[]): Success<ExemplarsData> {
  const bySeries = Map.groupBy(found, ({ seriesLabels }) => JSON.stringify(seriesLabels));
  return success(
    [...bySeries.values()].map((exemplars) => ({
      seriesLabels: toLabelSet(exemplars[0]!.seriesLabels),
      exemplars: exemplars.map(({ labels, value, timeMs }) => ({
        labels: toLabelSet(labels),
        value: toNumberText(value),
        timestamp: Number(timeMs) / 1000,
      })),
    })),
  );
}

/** From entries, since a label may be called `__proto__`. */
export function toLabelSet(labels: readonly Label[]): Record<string, string> {
  return Object.fromEntries(labels);
}

/** In Go's form, since JSON has no infinity. */
function toNumberText(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

const failureSchema = z.object({
  status: z.literal('error'),
  errorType: z.string().meta({ examples: ['bad_data'] }),
  error: z.string().describe('What failed, and what to change.'),
  type: z.string().describe('urn:weir:problem: and the code.'),
  code: z.string(),
  title: z.string(),
  detail: z.string().describe('The same as error.'),
  requestId: z.string().describe('Identifies this request in the log of the service.'),
  parameter: z.string().optional().describe('The invalid parameter or field.'),
});

/** Prometheus' types where it has one (web/api/v1/api.go). */
const errorTypes: Readonly<Record<ErrorCode, string>> = {
  malformed: 'bad_data',
  unauthenticated: 'unauthorized',
  forbidden: 'forbidden',
  not_found: 'not_found',
  method_not_allowed: 'bad_data',
  conflict: 'bad_data',
  precondition_failed: 'bad_data',
  too_large: 'execution',
  unsupported_media: 'bad_data',
  execution: 'execution',
  quota_exceeded: 'too_many_requests',
  timeout: 'timeout',
  unavailable: 'unavailable',
  query_timeout: 'timeout',
  internal: 'internal',
};

/** Prometheus' failures, with the members of problem+json (RFC 9457) beside `errorType`. */
export const prometheusFailure: ReadFailure = {
  schema: failureSchema,
  codes: ['execution'],
  encode,
};

function encode({ code, title, detail, requestId, parameter }: Problem) {
  const body: z.output<typeof failureSchema> = {
    status: 'error',
    errorType: errorTypes[code as ErrorCode] ?? 'internal',
    error: detail,
    type: `urn:weir:problem:${code}`,
    code,
    title,
    detail,
    requestId,
    ...(parameter !== undefined && { parameter }),
  };
  return { contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}
