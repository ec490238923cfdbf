/**
 * The quantile of the first `length` numbers; NaN sorts first. Changes their order.
 * https://en.wikipedia.org/wiki/Quickselect
 */
export function quantile(q: number, values: Float64Array, length = values.length): number {
  if (length === 0 || Number.isNaN(q)) return Number.NaN;
  if (q < 0) return -Infinity;
  if (q > 1) return Infinity;
  const nans = moveNansFirst(values, length);
  const rank = q * (length - 1);
  const lower = Math.floor(rank);
  const upper = Math.min(length - 1, lower + 1);
  const weight = rank - lower;
  if (lower < nans) return Number.NaN;
  select(values, lower, { first: nans, last: length - 1 });
  let next = values[upper]!;
  for (let i = upper + 1; i < length; i++) if (values[i]! < next) next = values[i]!;
  return values[lower]! * (1 - weight) + next * weight;
}

/** @returns how many there are */
function moveNansFirst(values: Float64Array, length: number): number {
  let nans = 0;
  for (let i = 0; i < length; i++) {
    if (!Number.isNaN(values[i]!)) continue;
    values[i] = values[nans]!;
    values[nans] = Number.NaN;
    nans += 1;
  }
  return nans;
}

/** Some orders of numbers would need as many rounds as there are numbers. */
const mostRounds = 50;

/** The middle suits sorted numbers, but is the worst of a fall and a rise: later ones spread. */
function pivotOffset(length: number, round: number): number {
  return round === 0 ? length >>> 1 : (Math.imul(round, 0x9e3779b1) >>> 0) % length;
}

/** Moves to an index what sorting would move there, with lower numbers before and others behind. */
function select(
  values: Float64Array,
  index: number,
  { first, last }: { readonly first: number; readonly last: number },
): void {
  let [left, right] = [first, last];
  for (let rounds = 0; left < right; rounds++) {
    if (rounds === mostRounds) return void values.subarray(left, right + 1).sort();
    const pivot = values[left + pivotOffset(right - left + 1, rounds)]!;
    let [i, j] = [left, right];
    while (i <= j) {
      while (values[i]! < pivot) i += 1;
      while (values[j]! > pivot) j -= 1;
      if (i > j) break;
      const value = values[i]!;
      values[i++] = values[j]!;
      values[j--] = value;
    }
    if (index <= j) right = j;
    else if (index >= i) left = i;
    else return;
  }
}
