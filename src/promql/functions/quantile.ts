/** The quantile of numbers; NaN sorts first. The list is sorted in place. */
export function quantile(q: number, values: number[]): number {
  if (values.length === 0 || Number.isNaN(q)) return Number.NaN;
  if (q < 0) return -Infinity;
  if (q > 1) return Infinity;
  values.sort(compareNumbers);
  const rank = q * (values.length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(values.length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return values[lower]! * (1 - weight) + values[upper]! * weight;
}

/** NaN first. */
function compareNumbers(left: number, right: number): number {
  if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : -1;
  if (Number.isNaN(right)) return 1;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
