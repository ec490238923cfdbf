/** Numbers and texts in Go's forms. */
import { decimal } from '../std/decimal.ts';

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
  const isDecimal = decimal.test(text);
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

const verb = /%(?:([-+0 #]*)(\d*)(?:\.(\d*))?(?:\[(\d+)\])?([a-zA-Z%])|$)/g;

/**
 * Go's `Sprintf` of texts, integers and floats, with flags, width, precision, and index of the
 * argument. A verb that the type does not have is an error in the text, as in Go.
 */
export function sprintf(form: string, values: readonly Scalar[]): string {
  let at = 0;
  let isReordered = false;
  const text = form.replace(verb, (_whole, ...parts: (string | undefined)[]) => {
    const [flags = '', width = '', digits, index, letter] = parts;
    if (letter === undefined) return '%!(NOVERB)';
    if (letter === '%') return '%';
    if (index !== undefined) [at, isReordered] = [Number(index) - 1, true];
    const value = values[at];
    if (value === undefined) return `%!${letter}(${index === undefined ? 'MISSING' : 'BADINDEX'})`;
    at += 1;
    const precision = digits === undefined ? undefined : Math.min(Number(digits), 100);
    const known = formatVerb(letter, value, precision);
    const shown = known ?? formatVerb('v', value, precision) ?? '';
    const [sign = ''] = /[vsq]/.test(letter) ? [] : (/[+ ]/.exec(flags) ?? []);
    const signed = typeof value !== 'string' && /^[\d.]/.test(shown) ? sign + shown : shown;
    const padded = pad(signed, Math.min(Number(width), 1000), { flags, value });
    return known === undefined ? `%!${letter}(${typeOf(value)}=${padded})` : padded;
  });
  if (isReordered || at >= values.length) return text;
  const extra = values.slice(at).map((value) => {
    const shown = formatVerb('v', value, undefined) ?? '';
    return `${typeOf(value)}=${shown}`;
  });
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

function typeOf(value: Scalar): string {
  if (typeof value === 'string') return 'string';
  return typeof value === 'bigint' ? 'int' : 'float64';
}

interface Padded {
  readonly flags: string;
  readonly value: Scalar;
}

function pad(text: string, width: number, { flags, value }: Padded): string {
  if (flags.includes('-')) return text.padEnd(width);
  if (!flags.includes('0')) return text.padStart(width);
  if (typeof value === 'string') return text.padStart(width, '0');
  // Infinities and NaN are no digits.
  if (!/\d/.test(text)) return text.padStart(width);
  // Zeros are between the sign and the digits.
  const [sign = ''] = /^[+ -]?/.exec(text) ?? [];
  return sign + text.slice(sign.length).padStart(width - sign.length, '0');
}

/** @returns undefined if the type has no such verb */
function formatVerb(
  letter: string,
  value: Scalar,
  precision: number | undefined,
): string | undefined {
  if (typeof value === 'number') return formatFloat(letter, value, precision);
  if (typeof value === 'bigint') return formatInteger(letter, value);
  return formatText(letter, value, precision);
}

function formatText(
  letter: string,
  text: string,
  precision: number | undefined,
): string | undefined {
  // Go counts code points.
  const shown = precision === undefined ? text : Array.from(text).slice(0, precision).join('');
  switch (letter) {
    case 's':
    case 'v':
      return shown;
    case 'q':
      return JSON.stringify(shown);
    case 'x':
      return Buffer.from(shown).toString('hex');
    case 'X':
      return Buffer.from(shown).toString('hex').toUpperCase();
    default:
      return undefined;
  }
}

function formatInteger(letter: string, value: bigint): string | undefined {
  switch (letter) {
    case 'd':
    case 'v':
      return String(value);
    case 'b':
      return value.toString(2);
    case 'o':
      return value.toString(8);
    case 'x':
      return value.toString(16);
    case 'X':
      return value.toString(16).toUpperCase();
    default:
      return undefined;
  }
}

function formatFloat(
  letter: string,
  value: number,
  precision: number | undefined,
): string | undefined {
  if (!'vgGeEfF'.includes(letter)) return undefined;
  if (!Number.isFinite(value)) return formatGo(value);
  const digits = precision ?? 6;
  switch (letter) {
    case 'f':
    case 'F':
      return formatFixed(value, digits);
    case 'e': {
      const shown = belowHalf(value, digits + 1).toExponential(digits);
      return shown.replace(/e([+-])(\d)$/, 'e$10$2');
    }
    case 'E':
    case 'G':
      return formatFloat(letter.toLowerCase(), value, precision)?.toUpperCase();
    default:
      return precision === undefined
        ? formatGo(value)
        : formatSignificant(value, Math.max(precision, 1));
  }
}
