/** State of the metrics page and its URL. Pure. */
import { printBuilt } from './build/built-query.ts';
import type { MetricType } from '../../../src/model/metric-types.ts';
import { defaultQueryOf } from './browse/metric-families.ts';

export interface MetricQuery {
  /** PromQL; may be unreadable or empty. None = no query yet. */
  readonly queries: readonly string[];
  readonly range: MetricRange;
  /** `heat`: the buckets of the first query that has some. */
  readonly display: 'lines' | 'heat';
  /** The value axis includes zero. */
  readonly isZeroBased: boolean;
  /** Fields of a log for which metrics are looked for, such as `serviceName:checkout`. */
  readonly related: readonly RelatedField[];
}

export interface RelatedField {
  readonly field: string;
  readonly value: string;
}

export type MetricRange =
  | { readonly kind: 'relative'; readonly span: Span }
  | { readonly kind: 'absolute'; readonly fromMs: number; readonly untilMs: number };

export interface Bounds {
  /** Unix ms. */
  readonly fromMs: number;
  readonly untilMs: number;
}

const minuteMs = 60_000;
export const spans = {
  '15m': 15 * minuteMs,
  '1h': 60 * minuteMs,
  '3h': 180 * minuteMs,
  '6h': 360 * minuteMs,
  '12h': 720 * minuteMs,
  '24h': 1440 * minuteMs,
  '2d': 2 * 1440 * minuteMs,
  '7d': 7 * 1440 * minuteMs,
  '30d': 30 * 1440 * minuteMs,
} as const;
export type Span = keyof typeof spans;

const defaultSpan: Span = '1h';
export const maxQueries = 10;
const maxQueryLength = 4_000;

export function parseMetricQuery(search: string): MetricQuery {
  const parameters = new URLSearchParams(search);
  const queries = parameters.getAll('q').slice(0, maxQueries);
  return {
    queries: queries.length > 0 ? queries.map(cut) : queriesOfMetric(parameters),
    range: parseRange(parameters),
    display: parameters.get('display') === 'heat' ? 'heat' : 'lines',
    isZeroBased: parameters.get('axis') === 'zero',
    related: pairsOf(parameters, 'of').map(([field, value]) => ({ field, value })),
  };
}

/** Defaults are omitted. */
export function formatMetricQuery(query: MetricQuery): string {
  const { queries, range, related } = query;
  const parameters = new URLSearchParams();
  for (const text of queries) parameters.append('q', text);
  for (const { field, value } of related) parameters.append('of', `${field}:${value}`);
  if (range.kind === 'absolute') {
    parameters.set('from', new Date(range.fromMs).toISOString());
    parameters.set('until', new Date(range.untilMs).toISOString());
  } else if (range.span !== defaultSpan) {
    parameters.set('range', range.span);
  }
  if (query.display === 'heat') parameters.set('display', 'heat');
  if (query.isZeroBased) parameters.set('axis', 'zero');
  return parameters.toString();
}

export function boundsOf(range: MetricRange, nowMs: number): Bounds {
  if (range.kind === 'absolute') return { fromMs: range.fromMs, untilMs: range.untilMs };
  return { fromMs: nowMs - spans[range.span], untilMs: nowMs };
}

/** Doubles the range at both ends, but not beyond now. */
export function widen(bounds: Bounds, nowMs: number): MetricRange {
  const lengthMs = bounds.untilMs - bounds.fromMs;
  const untilMs = Math.max(bounds.untilMs, Math.min(bounds.untilMs + lengthMs / 2, nowMs));
  return { kind: 'absolute', fromMs: Math.max(0, untilMs - 2 * lengthMs), untilMs };
}

/** `metric=up&label=job:api`: short links, and those of earlier versions. */
function queriesOfMetric(parameters: URLSearchParams): string[] {
  const metric = parameters.get('metric') ?? '';
  if (metric === '') return [];
  const filters = pairsOf(parameters, 'label').map(([name, value]) => ({
    name,
    op: '=' as const,
    value,
  }));
  const types: Readonly<Record<string, MetricType>> = { rate: 'counter', value: 'gauge' };
  const type = types[parameters.get('mode') ?? ''];
  return [cut(printBuilt({ ...defaultQueryOf(metric, type), filters }))];
}

function pairsOf(parameters: URLSearchParams, name: string): (readonly [string, string])[] {
  return parameters.getAll(name).flatMap((pair) => {
    const colon = pair.indexOf(':');
    return colon < 1 ? [] : [[pair.slice(0, colon), pair.slice(colon + 1)] as const];
  });
}

/** A cut may split a surrogate pair, which a URL cannot encode. */
function cut(text: string): string {
  return text.slice(0, maxQueryLength).toWellFormed();
}

function parseRange(parameters: URLSearchParams): MetricRange {
  const fromMs = Date.parse(parameters.get('from') ?? '');
  const untilMs = Date.parse(parameters.get('until') ?? '');
  if (fromMs < untilMs) return { kind: 'absolute', fromMs, untilMs };
  const asked = parameters.get('range') ?? '';
  return { kind: 'relative', span: Object.hasOwn(spans, asked) ? (asked as Span) : defaultSpan };
}
