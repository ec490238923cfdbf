/** The unit of what queries return. Pure. */
import type { MetricFamily } from '../browse/metric-families.ts';
import { parseBuilt } from '../build/built-query.ts';

/** Empty unless all queries have the same. */
export function unitOfAll(queries: readonly string[], families: readonly MetricFamily[]): string {
  const units = queries.filter((text) => text.trim() !== '').map((text) => unitOf(text, families));
  const [first = ''] = units;
  return units.every((unit) => unit === first) ? first : '';
}

function unitOf(text: string, families: readonly MetricFamily[]): string {
  const built = parseBuilt(text);
  if (built === undefined || built.combine === 'count') return '';
  const family = familyOf(built.metric, families);
  const unit = family?.unit ?? '';
  if (built.quantile !== undefined) return unit;
  // Counts of a histogram have no unit, whatever it measures.
  if (family?.type === 'histogram') return '';
  if (built.calculation !== 'rate') return unit;
  return unit === 'bytes' ? 'bytes/s' : '';
}

/** The unit of the buckets of a query: what its histogram measures. */
export function bucketUnitOf(text: string, families: readonly MetricFamily[]): string {
  const built = parseBuilt(text);
  return built === undefined ? '' : (familyOf(built.metric, families)?.unit ?? '');
}

function familyOf(asked: string, families: readonly MetricFamily[]): MetricFamily | undefined {
  return families.find(({ name, metric }) => metric === asked || name === asked);
}
