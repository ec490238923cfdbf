/** Numbers and texts in Go's forms. */

/** Go's `%v` of a float64. @param exponentFrom digits from which the exponent is written */
export function formatGo(value: number, exponentFrom = 6): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < exponentFrom) return plain(value);
  const sign = power < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** A value of a template; `bigint` = Go's int. */
export type Scalar = string | number | bigint;

/**
 * Go's `ParseFloat`, without hexadecimal digits and underscores.
 * @returns undefined for a text that is no number, also an empty one, or out of range
 */
export function parseGoNumber(text: string): number | undefined {
  if (/^nan$/i.test(text)) return Number.NaN;
  const [, sign] = /^([+-]?)inf(?:inity)?$/i.exec(text) ?? [];
  if (sign !== undefined) return Number(`${sign}Infinity`);
  const isDecimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
  const number = Number(text);
  return isDecimal && Number.isFinite(number) ? number : undefined;
}

function plain(value: number): string {
  if (Object.is(value, -0)) return '-0';
  return String(value).includes('e') ? value.toFixed(7).replace(/0+$/, '') : String(value);
}

/**
 * As Go's `%.4g`: with significant digits, and an exponent from as many digits on.
 * @param digits from 1 to 100
 */
export function formatSignificant(value: number, digits: number): string {
  if (!Number.isFinite(value) || value === 0) return formatGo(value);
  return formatGo(Number(belowHalf(value, digits).toPrecision(digits)), digits);
}

/** As Go's `%.2f`. */
function formatFixed(value: number, digits: number): string {
  if (Math.abs(value) >= 1e21) {
    return `${BigInt(value)}${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`;
  }
  const text = belowHalf(value, digits + exponentOf(value) + 1).toFixed(digits);
  return Object.is(value, -0) ? `-${text}` : text;
}

/** No number has more that matter for half of a digit shown. */
const exactDigits = 100;

/**
 * Go rounds what is exactly half to even digits, JavaScript away from zero.
 * @param digits significant ones that remain
 * @returns the value, or the next one towards zero where this must be rounded down
 */
function belowHalf(value: number, digits: number): number {
  const all = `0${Math.abs(value).toExponential(exactDigits).split('e')[0]!.replace('.', '')}`;
  const isHalf = digits >= 0 && /^50*$/.test(all.slice(digits + 1));
  return isHalf && Number(all[digits]) % 2 === 0 ? value * (1 - Number.EPSILON) : value;
}

function exponentOf(value: number): number {
  return Number(value.toExponential().split('e')[1]);
}

const verb = /%([-+0 #]*)(\d*)(?:\.(\d+))?(?:\[(\d+)\])?([a-zA-Z%])/g;

/** The verbs v, s, q, d, f, e, g, x with flags, width, precision, and index of the argument. */
export function sprintf(form: string, values: readonly Scalar[]): string {
  let at = 0;
  return form.replace(verb, (_whole, ...parts: (string | undefined)[]) => {
    const [flags = '', width = '', digits, index, letter = ''] = parts;
    if (letter === '%') return '%';
    if (index !== undefined) at = Number(index) - 1;
    const value = values[at];
    if (value === undefined) return `%!${letter}(${index === undefined ? 'MISSING' : 'BADINDEX'})`;
    at += 1;
    const precision = digits === undefined ? undefined : Math.min(Number(digits), 100);
    const text = formatVerb(letter, value, precision) ?? `%!${letter}(${String(value)})`;
    const [sign = ''] = /[vsq]/.test(letter) ? [] : (/[+ ]/.exec(flags) ?? []);
    const signed = sign !== '' && /^[\d.I]/.test(text) ? sign + text : text;
    const wanted = Math.min(Number(width), 1000);
    if (flags.includes('-')) return signed.padEnd(wanted);
    if (!flags.includes('0') || !/\d/.test(signed)) return signed.padStart(wanted);
    // Zeros are between the sign and the digits.
    const [before = ''] = /^[+ -]?/.exec(signed) ?? [];
    return before + signed.slice(before.length).padStart(wanted - before.length, '0');
  });
}

/** Go counts code points. */
function cutTo(text: string, length: number | undefined): string {
  return length === undefined ? text : Array.from(text).slice(0, length).join('');
}

function formatVerb(
  letter: string,
  value: Scalar,
  precision: number | undefined,
): string | undefined {
  const text = typeof value === 'number' ? formatGo(value) : String(value);
  const isText = letter === 's' || (letter === 'v' && typeof value === 'string');
  if (isText) return cutTo(text, precision);
  if (letter === 'q') return JSON.stringify(text);
  if (/x/i.test(letter) && typeof value === 'string') {
    const digits = Buffer.from(value).toString('hex');
    return letter === 'x' ? digits : digits.toUpperCase();
  }
  const number = typeof value === 'string' ? parseGoNumber(value) : Number(value);
  if (number === undefined) return `%!${letter}(string=${text})`;
  if (!Number.isFinite(number)) return formatGo(number);
  if ('EGX'.includes(letter)) {
    return formatVerb(letter.toLowerCase(), value, precision)?.toUpperCase();
  }
  switch (letter) {
    case 'd':
      return typeof value === 'bigint' ? text : String(Math.trunc(number));
    case 'f':
    case 'F':
      return formatFixed(number, precision ?? 6);
    case 'e': {
      const digits = precision ?? 6;
      const shown = belowHalf(number, digits + 1).toExponential(digits);
      return shown.replace(/e([+-])(\d)$/, 'e$10$2');
    }
    case 'g':
    case 'v':
      return precision === undefined ? text : formatSignificant(number, Math.max(precision, 1));
    case 'x':
      return Math.trunc(number).toString(16);
    default:
      return undefined;
  }
}
