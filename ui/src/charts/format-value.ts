/** Compact numbers for axes, and numbers as Prometheus writes them. Pure. */

/** In Go's form: `+Inf`. */
export function parseValue(text: string): number {
  return /^[+-]?Inf$/.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
}

/** For example `1.2 M`. */
export function formatValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(2);
  // The largest compact unit is T, for 1e12.
  if (size >= 1e15) return Number(value.toPrecision(5)).toExponential();
  // Without the sign of -0.
  return compact.format(value + 0);
}

const compact = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 5,
});
