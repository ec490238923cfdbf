/** State of the metrics page and its URL. Pure. */

export interface MetricQuery {
  /** Empty = no metric selected. */
  readonly metric: string;
  readonly labels: readonly LabelFilter[];
  readonly range: MetricRange;
  /** `auto`: rates for counters, values otherwise. */
  readonly mode: 'auto' | 'value' | 'rate';
}

export interface LabelFilter {
  readonly name: string;
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
  '6h': 360 * minuteMs,
  '24h': 1440 * minuteMs,
  '7d': 7 * 1440 * minuteMs,
} as const;
export type Span = keyof typeof spans;

const defaultSpan: Span = '1h';
const modes = ['auto', 'value', 'rate'] as const;

export function parseMetricQuery(search: string): MetricQuery {
  const parameters = new URLSearchParams(search);
  const labels = parameters.getAll('label').flatMap((pair) => {
    const colon = pair.indexOf(':');
    return colon < 1 ? [] : [{ name: pair.slice(0, colon), value: pair.slice(colon + 1) }];
  });
  return {
    metric: parameters.get('metric') ?? '',
    labels,
    range: parseRange(parameters),
    mode: modes.find((mode) => mode === parameters.get('mode')) ?? 'auto',
  };
}

/** Defaults are omitted. */
export function formatMetricQuery({ metric, labels, range, mode }: MetricQuery): string {
  const parameters = new URLSearchParams();
  if (metric !== '') parameters.set('metric', metric);
  for (const { name, value } of labels) parameters.append('label', `${name}:${value}`);
  if (range.kind === 'absolute') {
    parameters.set('from', new Date(range.fromMs).toISOString());
    parameters.set('until', new Date(range.untilMs).toISOString());
  } else if (range.span !== defaultSpan) {
    parameters.set('range', range.span);
  }
  if (mode !== 'auto') parameters.set('mode', mode);
  return parameters.toString();
}

export function boundsOf(range: MetricRange, nowMs: number): Bounds {
  if (range.kind === 'absolute') return range;
  return { fromMs: nowMs - spans[range.span], untilMs: nowMs };
}

/** Doubles the range at both ends, but not beyond now. */
export function widen(bounds: Bounds, nowMs: number): MetricRange {
  const lengthMs = bounds.untilMs - bounds.fromMs;
  const untilMs = Math.max(bounds.untilMs, Math.min(bounds.untilMs + lengthMs / 2, nowMs));
  return { kind: 'absolute', fromMs: Math.max(0, untilMs - 2 * lengthMs), untilMs };
}

function parseRange(parameters: URLSearchParams): MetricRange {
  const fromMs = Date.parse(parameters.get('from') ?? '');
  const untilMs = Date.parse(parameters.get('until') ?? '');
  if (fromMs < untilMs) return { kind: 'absolute', fromMs, untilMs };
  const asked = parameters.get('range') ?? '';
  return { kind: 'relative', span: Object.hasOwn(spans, asked) ? (asked as Span) : defaultSpan };
}
