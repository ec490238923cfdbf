/** Bars out of characters: eighths of a block where the terminal has them, else `#`. Pure. */

export type BarSet = 'blocks' | 'ascii';

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * What is not zero has a bar that can be seen.
 * @param share 0 to 1.
 * @param width characters of the whole.
 */
export function toBar(share: number, width: number, set: BarSet): string {
  const exact = Math.min(1, Math.max(0, share)) * width;
  if (exact === 0) return '';
  if (set === 'ascii') return '#'.repeat(Math.max(1, Math.round(exact)));
  const parts = Math.max(1, Math.round(exact * 8));
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
}

/**
 * The bar of a sum, cut into one piece for each of its parts; every piece ends with the character
 * in which its part does, so that together they are as long as `toBar` of the sum.
 */
export function toStackedBar(
  parts: readonly number[],
  whole: { readonly most: number; readonly width: number; readonly set: BarSet },
): string[] {
  const sum = parts.reduce((total, part) => total + part, 0);
  const bar = Array.from(toBar(sum / whole.most, whole.width, whole.set));
  let before = 0;
  return parts.map((part) => {
    const from = Math.round((before / sum) * bar.length);
    before += part;
    return bar.slice(from, Math.round((before / sum) * bar.length)).join('');
  });
}

/** Source of the order: POSIX, "Environment Variables", where the first that is set decides. */
export function barSetOf(environment: Readonly<Record<string, string | undefined>>): BarSet {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  return /utf-?8/i.test(locale) ? 'blocks' : 'ascii';
}
