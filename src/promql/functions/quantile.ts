/** The quantile of numbers; NaN sorts first. The numbers are sorted in place. */
export function quantile(q: number, values: Float64Array): number {
  const { length } = values;
  if (length === 0 || Number.isNaN(q)) return Number.NaN;
  if (q < 0) return -Infinity;
  if (q > 1) return Infinity;
  // NaN last.
  values.sort();
  let numbers = length;
  while (numbers > 0 && Number.isNaN(values[numbers - 1]!)) numbers -= 1;
  const rank = q * (length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  const at = (index: number) => {
    const place = index - (length - numbers);
    return place < 0 ? Number.NaN : values[place]!;
  };
  return at(lower) * (1 - weight) + at(upper) * weight;
}
