/** Seeded draws of values: ranks in Zipf proportions and hexadecimal ids. */
import type { Random } from '../test/harness/random.ts';

/** Draws rank r in proportion to 1 / (r + 1). */
export function createZipf<T>(random: Random, size: number, toValue: (rank: number) => T): () => T {
  const values = Array.from({ length: size }, (_, rank) => toValue(rank));
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 0; rank < size; rank++) sums.push((sum += 1 / (rank + 1)));
  return () => {
    const draw = random.next() * sum;
    return values[firstAbove(sums, draw)] ?? toValue(0);
  };
}

/** Index of the first of the ascending `sums` above `draw`. */
function firstAbove(sums: readonly number[], draw: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] ?? 0) > draw) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function hex(random: Random, digits: number): string {
  let text = '';
  while (text.length < digits) text += random.integer(0, 0xffff_ffff).toString(16).padStart(8, '0');
  return text.slice(0, digits);
}
