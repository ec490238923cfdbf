/** `sort` and its relatives, which order the answer of an instant query. */
import { compareLabels, compareText, labelValue } from '../labels.ts';
import { type GridSeries, kind } from '../values.ts';

/** @param names of `sort_by_label`. */
export function sortSeries(
  name: string,
  series: readonly GridSeries[],
  names: readonly string[],
): readonly GridSeries[] {
  const sign = name.endsWith('_desc') ? -1 : 1;
  if (name.startsWith('sort_by_label')) {
    return [...series].sort((left, right) => sign * compareByLabels(left, right, names));
  }
  // Only floats have an order.
  const floats = series.filter(({ kinds }) => !kinds.includes(kind.histogram));
  return floats.sort((left, right) => compareValues(left.floats[0]!, right.floats[0]!, sign));
}

/** NaN last in either order. @param sign -1 = descending */
export function compareValues(left: number, right: number, sign: number): number {
  if (Number.isNaN(left) || Number.isNaN(right)) {
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  }
  if (left === right) return 0;
  return left < right ? -sign : sign;
}

function compareByLabels(left: GridSeries, right: GridSeries, names: readonly string[]): number {
  for (const name of names) {
    const order = compareNatural(labelValue(left.labels, name), labelValue(right.labels, name));
    if (order !== 0) return order;
  }
  return compareLabels(left.labels, right.labels);
}

const parts = /\d+|\D+/g;

/** Numbers within texts by value: `a2` before `a10`. */
function compareNatural(left: string, right: string): number {
  if (left === right) return 0;
  const leftParts = left.match(parts) ?? [];
  const rightParts = right.match(parts) ?? [];
  for (let i = 0; i < leftParts.length && i < rightParts.length; i++) {
    const [a, b] = [leftParts[i]!, rightParts[i]!];
    const areNumbers = /^\d/.test(a) && /^\d/.test(b);
    const order = areNumbers ? Number(a) - Number(b) : compareText(a, b);
    if (order !== 0) return order;
  }
  return leftParts.length - rightParts.length || compareText(left, right);
}
