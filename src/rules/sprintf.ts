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

/** As Go's `%.2f`. @param value without a sign */
function formatFixed(value: number, digits: number): string {
  if (Math.abs(value) >= 1e21) {
    return `${BigInt(value)}${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`;
  }
  return belowHalf(value, digits + exponentOf(value) + 1).toFixed(digits);
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

const verb = /%([-+0 #]*)(\d*)(?:\.(\d*))?(?:\[(\d+)\])?([^]|$)/gu;

/** A template that cannot be expanded, or is refused. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** A form of Go's that this `sprintf` does not have. */
export class UnsupportedForm extends TemplateError {
  constructor(form: string) {
    super(
      `printf cannot show ${JSON.stringify(form)}: ` +
        'there is no flag #, no width *, and no %b, %x and %X of floats',
    );
  }
}

interface Options {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
}

/**
 * Go's `Sprintf` of texts, integers and floats, with flags, width, precision, and index of the
 * argument. A verb that the type does not have is an error in the text, as in Go.
 * @throws UnsupportedForm
 */
export function sprintf(form: string, values: readonly Scalar[]): string {
  let at = 0;
  let isReordered = false;
  const text = form.replace(verb, (whole, ...parts: (string | undefined)[]) => {
    const [flags = '', width = '', digits, index, letter] = parts;
    if (!letter) return '%!(NOVERB)';
    if (flags.includes('#') || letter === '*') throw new UnsupportedForm(whole);
    if (letter === '%') return '%';
    if (index !== undefined) [at, isReordered] = [Number(index) - 1, true];
    const value = values[at];
    if (value === undefined) return `%!${letter}(${index === undefined ? 'MISSING' : 'BADINDEX'})`;
    at += 1;
    if (typeof value === 'number' && 'bxX'.includes(letter)) throw new UnsupportedForm(whole);
    const precision = digits === undefined ? undefined : Math.min(Number(digits), 100);
    const options = { flags, width: Math.min(Number(width), 1000), precision };
    const known = formatVerb(letter, value, options);
    return known ?? `%!${letter}(${typeOf(value)}=${formatDefault(value, options)})`;
  });
  if (isReordered || at >= values.length) return text;
  const extra = values.slice(at).map((value) => {
    const shown = formatDefault(value, { flags: '', width: 0, precision: undefined });
    return `${typeOf(value)}=${shown}`;
  });
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

function typeOf(value: Scalar): string {
  if (typeof value === 'string') return 'string';
  return typeof value === 'bigint' ? 'int' : 'float64';
}

/** Go counts code points. */
function pad(text: string, { flags, width }: Options): string {
  const missing = Math.max(0, width - Array.from(text).length);
  if (flags.includes('-')) return text + ' '.repeat(missing);
  return (flags.includes('0') ? '0' : ' ').repeat(missing) + text;
}

/** Zeros are between the sign and the digits, and fill the width without the prefix. */
function padNumber(sign: string, digits: string, options: Options, prefix = ''): string {
  const flags = noZeros(options.flags);
  const isFilled = flags !== options.flags && !flags.includes('-');
  const zeros = isFilled ? options.width - sign.length : 0;
  return pad(sign + prefix + digits.padStart(zeros, '0'), { ...options, flags });
}

function noZeros(flags: string): string {
  return flags.replaceAll('0', '');
}

function signOf(isNegative: boolean, flags: string): string {
  if (isNegative) return '-';
  if (flags.includes('+')) return '+';
  return flags.includes(' ') ? ' ' : '';
}

/** @returns undefined if the type has no such verb */
function formatVerb(letter: string, value: Scalar, options: Options): string | undefined {
  if (letter === 'T') return formatText('s', typeOf(value), options);
  // For numbers the plus of %+v is none: it names fields.
  const flags = letter === 'v' ? options.flags.replaceAll('+', '') : options.flags;
  if (typeof value === 'number') return formatFloat(letter, value, { ...options, flags });
  if (typeof value === 'bigint') return formatInteger(letter, value, { ...options, flags });
  return formatText(letter, value, options);
}

/** Go's `%v`, but with a plus. */
function formatDefault(value: Scalar, options: Options): string {
  if (typeof value === 'number') return formatFloat('g', value, options)!;
  return formatVerb(typeof value === 'bigint' ? 'd' : 's', value, options)!;
}

function formatText(letter: string, text: string, options: Options): string | undefined {
  const { flags, precision } = options;
  const shown = precision === undefined ? text : Array.from(text).slice(0, precision).join('');
  switch (letter) {
    case 's':
    case 'v':
      return pad(shown, options);
    case 'q':
      return pad(quoteGo(shown, '"', flags), options);
    case 'x': {
      const hex = Buffer.from(text).subarray(0, precision).toString('hex');
      return pad(flags.includes(' ') ? hex.replace(/..(?=.)/g, '$& ') : hex, options);
    }
    case 'X':
      return formatText('x', text, options)?.toUpperCase();
    default:
      return undefined;
  }
}

const bases: Readonly<Record<string, number>> = { b: 2, o: 8, O: 8, d: 10, v: 10, x: 16, X: 16 };

function formatInteger(letter: string, value: bigint, options: Options): string | undefined {
  const { flags, precision } = options;
  switch (letter) {
    case 'c':
      return pad(toCharacter(value), options);
    case 'q':
      return pad(quoteGo(toCharacter(value), "'", flags), options);
    case 'U': {
      const hex = BigInt.asUintN(64, value).toString(16).toUpperCase();
      const digits = hex.padStart(Math.max(4, precision ?? 0), '0');
      return pad(`U+${digits}`, { ...options, flags: noZeros(flags) });
    }
  }
  const base = Object.hasOwn(bases, letter) ? bases[letter] : undefined;
  if (base === undefined) return undefined;
  const spaced = { ...options, flags: noZeros(flags) };
  if (precision === 0 && value === 0n) return pad('', spaced);
  const digits = (value < 0n ? -value : value).toString(base).padStart(precision ?? 0, '0');
  const cased = letter === 'X' ? digits.toUpperCase() : digits;
  const sign = signOf(value < 0n, flags);
  const prefix = letter === 'O' ? '0o' : '';
  return padNumber(sign, cased, precision === undefined ? options : spaced, prefix);
}

/** What is no character is U+FFFD. */
function toCharacter(value: bigint): string {
  const isCharacter = value >= 0n && value <= 0x10ffffn;
  return isCharacter ? String.fromCodePoint(Number(value)).toWellFormed() : '\ufffd';
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
const printable = /^[ \p{L}\p{M}\p{N}\p{P}\p{S}]$/u;

/** Go's `Quote`, and its `QuoteToASCII` with the flag `+`. */
function quoteGo(text: string, mark: string, flags: string): string {
  const shown = Array.from(text, (character) => {
    const code = character.codePointAt(0)!;
    if (character === mark || character === '\\') return `\\${character}`;
    const isShown = flags.includes('+') ? code > 0x1f && code < 0x7f : printable.test(character);
    if (isShown) return character;
    const hex = code.toString(16);
    const escape = escapes[character];
    if (escape !== undefined) return escape;
    if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
    return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
  });
  return mark + shown.join('') + mark;
}

function formatFloat(letter: string, value: number, options: Options): string | undefined {
  if (!'vgGeEfF'.includes(letter)) return undefined;
  const { flags, precision } = options;
  const sign = signOf(value < 0 || Object.is(value, -0), flags);
  if (!Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? `${sign}NaN` : `${sign || '+'}Inf`;
    return pad(shown, { ...options, flags: noZeros(flags) });
  }
  return padNumber(sign, formatDigits(letter, Math.abs(value), precision), options);
}

/** @param value finite, without a sign */
function formatDigits(letter: string, value: number, precision: number | undefined): string {
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
      return formatDigits(letter.toLowerCase(), value, precision).toUpperCase();
    default:
      return precision === undefined
        ? formatGo(value)
        : formatSignificant(value, Math.max(precision, 1));
  }
}
