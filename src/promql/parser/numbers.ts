/** Numbers and durations as PromQL writes them. */

const unitMs: Readonly<Record<string, number>> = {
  y: 31_536_000_000,
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};
const durationForm = /^(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m(?!s))?(?:\d+s)?(?:\d+ms)?$/;

export interface ParsedNumber {
  readonly value: number;
  readonly isDuration: boolean;
}

/** @returns undefined where the text is neither a number nor a duration, which is in seconds. */
export function parseNumber(text: string): ParsedNumber | undefined {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return { value: seconds, isDuration: true };
  const digits = text.replaceAll('_', '');
  // As in Go, a leading zero makes an integer octal.
  const octal = /^0[0-7]+$/.test(digits);
  const value = octal ? Number.parseInt(digits, 8) : Number(digits);
  return Number.isNaN(value) ? undefined : { value, isDuration: false };
}

/** @returns seconds. */
export function parseDuration(text: string): number | undefined {
  if (text === '' || !durationForm.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|[smhdwy])/g)) {
    total += Number(count) * unitMs[unit!]!;
  }
  return total / 1000;
}

/** As Go's `strconv.FormatFloat(value, 'f', -1, 64)`, which the API uses. */
export function formatNumber(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (!Number.isFinite(value)) return formatInfinite(value);
  const text = String(value);
  const mark = text.indexOf('e');
  if (mark === -1) return text;
  const exponent = Number(text.slice(mark + 1));
  const sign = text.startsWith('-') ? '-' : '';
  const mantissa = text.slice(sign.length, mark);
  const [whole = '', fraction = ''] = mantissa.split('.');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${whole}${fraction}`;
  return `${sign}${whole}${fraction}${'0'.repeat(exponent - fraction.length)}`;
}

/** As Prometheus' JSON: with an exponent where it is shorter, which has at least two digits. */
export function formatSample(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-6 && magnitude < 1e21) return `${value}`;
  if (value === 0 || !Number.isFinite(value)) return formatNumber(value);
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** As Go's `%g`. @param exponentFrom digits from which the exponent is written */
export function formatShort(value: number, exponentFrom = 6): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (!Number.isFinite(value)) return formatInfinite(value);
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < exponentFrom) return formatNumber(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}

/** Seconds as `1h30m`. */
export function formatDuration(seconds: number): string {
  let left = Math.round(Math.abs(seconds) * 1000);
  if (left === 0) return '0s';
  let text = seconds < 0 ? '-' : '';
  for (const [unit, ms] of Object.entries(unitMs)) {
    // Years and weeks only where nothing remains.
    if ((unit === 'y' || unit === 'w') && left % ms !== 0) continue;
    const count = Math.floor(left / ms);
    if (count > 0) text += `${count}${unit}`;
    left -= count * ms;
  }
  return text;
}

function formatInfinite(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
