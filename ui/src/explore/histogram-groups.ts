/** Series of a histogram by the values of a field. Pure. */
import type { Histogram } from '../api/models.ts';
import type { BarSeries } from '../charts/stacked-bars.tsx';
import type { ServiceColor } from './service-color.ts';
import { barColor, groupByFamily } from './severity-family.ts';

export type GroupedBucket = Pick<Histogram['buckets'][number], 'groups' | 'other'>;

export interface GroupSeries extends BarSeries {
  readonly total: number;
}

/**
 * Bottom of the stack first: severities from the worst one, other values from the most frequent
 * one, and last the logs with none of the listed values.
 * @param nameOf of a value, for display
 * @param colorOf of a service
 */
export function groupSeries(
  buckets: readonly GroupedBucket[],
  groupBy: string,
  nameOf: (value: string) => string | undefined,
  colorOf: ServiceColor,
): GroupSeries[] {
  if (groupBy === 'severity') {
    return groupByFamily(buckets).map(({ family, values, total }) => ({
      name: family,
      color: barColor(family),
      values,
      total,
    }));
  }
  const values = [...new Set(buckets.flatMap(({ groups = {} }) => Object.keys(groups)))];
  const named = values
    .map((value) => {
      const counts = buckets.map(({ groups }) => groups?.[value] ?? 0);
      const name = value === '' ? 'none' : (nameOf(value) ?? value);
      return { value, name, values: counts, total: sum(counts) };
    })
    .toSorted((left, right) => right.total - left.total)
    // Only services keep their colour: values of other fields must differ among each other.
    .map(({ value, ...series }, rank) => ({
      ...series,
      color: `var(${groupBy === 'serviceName' ? colorOf(value) : `--line-${(rank % 10) + 1}`})`,
    }));
  const others = buckets.map(({ other = 0 }) => other);
  const rest = { name: 'others', color: 'var(--bar-none)', values: others, total: sum(others) };
  return rest.total > 0 ? [...named, rest] : named;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
