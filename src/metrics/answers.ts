/**
 * From what the store found to what Prometheus' API answers: the envelope, and how lists are cut to
 * what was asked for. Pure.
 */
import { AppError } from '../model/errors.ts';
import type { Exemplar, MetricMetadata } from '../model/metric-plan.ts';
import type { Label } from '../model/metric-plan.ts';
import { toLimit } from './plan.ts';
import type { ExemplarsData, MetadataData, Success } from './responses.ts';

/** The words of Prometheus, which its clients may look for. */
const cutWarning = 'results truncated due to limit';

export function success<Data>(data: Data): Success<Data> {
  return { status: 'success', data };
}

/**
 * Who asked for a limit gets as many, and is told where there were more.
 * @param found one more than `most` where there are more.
 * @throws AppError `unavailable`, as at any limit of a read, where nobody asked for less
 */
export function cutTo<Item>(
  found: readonly Item[],
  asked: number | undefined,
  most: number,
): Success<Item[]> {
  const limit = toLimit(asked, most);
  if (found.length <= limit) return success([...found]);
  if (asked === undefined || asked === 0) throw tooMany(most);
  return { ...success(found.slice(0, limit)), warnings: [cutWarning] };
}

/**
 * Entries by metric.
 * @param found by metric; one more than `most` where there are more.
 * @throws AppError `unavailable` as `cutTo`, and where the store has more of the last metric
 */
export function toMetadata(
  found: readonly MetricMetadata[],
  asked: { readonly limit: number | undefined; readonly perMetric: number | undefined },
  most: number,
): Success<MetadataData> {
  const byMetric = [...Map.groupBy(found, ({ name }) => name)];
  if (found.length > most && byMetric.length <= toLimit(asked.limit, most)) throw tooMany(most);
  const { data, ...rest } = cutTo(byMetric, asked.limit, most);
  const perMetric = toLimit(asked.perMetric, most);
  const entries = data.map(([name, ofMetric]) => {
    const shown = ofMetric.slice(0, perMetric);
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

/** @param found by series, then time. */
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

/** Entries, not assignment: a label may be called `__proto__`. */
export function toLabelSet(labels: readonly Label[]): Record<string, string> {
  return Object.fromEntries(labels);
}

/** As Go writes it, since JSON knows no infinity. */
function toNumberText(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
