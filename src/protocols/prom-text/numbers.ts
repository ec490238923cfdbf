/**
 * Parses numbers and timestamps from bytes. Numbers: the syntax of Go's ParseFloat without
 * hexadecimals and underscores, rounded to the nearest double. Times: 64-bit Unix ms, rounded from
 * the decimal text instead of from a double.
 */
import type { Time } from '../../codec/metric-writer.ts';
import { endsToken, failAt, type Grammar } from './tokens.ts';

export const notANumber = -1;
export const outOfRange = -2;

/** A double holds every whole number below this. */
const exactBelow = 2 ** 53;
/** Powers of ten that are exact as a double. */
const powersOfTen = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);
const maxExactPower = powersOfTen.length - 1;
const maxExponent = 100_000;

const plus = 0x2b;
const minus = 0x2d;
const dot = 0x2e;
const letterE = 0x65;
const lowerCase = 0x20;

const nanWord = Buffer.from('nan');
const infWord = Buffer.from('inf');
const infinityWord = Buffer.from('infinity');

/** Holds the number read last; reusable. */
export class NumberScanner {
  value = 0;
  /** The number is ± `mantissa` · 10^`power`, exactly if `isExact`. */
  mantissa = 0;
  power = 0;
  isNegative = false;

  get isExact(): boolean {
    return this.mantissa < exactBelow;
  }

  /** @returns the position after the number, `notANumber`, or `outOfRange` of a double */
  scan(bytes: Buffer, start: number): number {
    const end = this.scanDecimal(bytes, start);
    return end < 0 ? this.#scanWord(bytes, start) : this.#toDouble(bytes, start, end);
  }

  /** Like `scan`, for digits only; does not set `value`. */
  scanDecimal(bytes: Buffer, start: number): number {
    const sign = bytes[start];
    let at = sign === plus || sign === minus ? start + 1 : start;
    const first = at;
    let mantissa = 0;
    let digit = toDigit(bytes[at]);
    for (; digit < 10; digit = toDigit(bytes[++at])) mantissa = mantissa * 10 + digit;
    let digits = at - first;
    let fraction = 0;
    if (bytes[at] === dot) {
      const afterDot = at + 1;
      digit = toDigit(bytes[++at]);
      for (; digit < 10; digit = toDigit(bytes[++at])) mantissa = mantissa * 10 + digit;
      fraction = at - afterDot;
      digits += fraction;
    }
    if (digits === 0) return notANumber;
    this.mantissa = mantissa;
    this.power = -fraction;
    this.isNegative = sign === minus;
    return (bytes[at]! | lowerCase) === letterE ? this.#scanExponent(bytes, at + 1) : at;
  }

  #scanExponent(bytes: Buffer, start: number): number {
    const sign = bytes[start];
    let at = sign === plus || sign === minus ? start + 1 : start;
    const first = at;
    let exponent = 0;
    let digit = toDigit(bytes[at]);
    for (; digit < 10; digit = toDigit(bytes[++at])) {
      if (exponent < maxExponent) exponent = exponent * 10 + digit;
    }
    if (at === first) return notANumber;
    this.power += sign === minus ? -exponent : exponent;
    return at;
  }

  /** An exact mantissa and an exact power of ten need one rounding only (Clinger 1990). */
  #toDouble(bytes: Buffer, start: number, end: number): number {
    const { mantissa, power } = this;
    if (mantissa < exactBelow && power >= -maxExactPower && power <= maxExactPower) {
      const size = power < 0 ? mantissa / powersOfTen[-power]! : mantissa * powersOfTen[power]!;
      this.value = this.isNegative ? -size : size;
      return end;
    }
    this.value = Number(bytes.toString('latin1', start, end));
    return Number.isFinite(this.value) ? end : outOfRange;
  }

  #scanWord(bytes: Buffer, start: number): number {
    if (startsWith(bytes, start, nanWord)) {
      this.value = Number.NaN;
      return start + nanWord.length;
    }
    const sign = bytes[start];
    const at = sign === plus || sign === minus ? start + 1 : start;
    if (!startsWith(bytes, at, infWord)) return notANumber;
    this.value = sign === minus ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return at + (startsWith(bytes, at, infinityWord) ? infinityWord : infWord).length;
  }
}

/** @returns 0 to 9, or a larger number for another byte */
function toDigit(byte: number | undefined): number {
  return byte === undefined ? 10 : (byte - 0x30) >>> 0;
}

/** Ignores case. */
function startsWith(bytes: Buffer, at: number, word: Buffer): boolean {
  for (let i = 0; i < word.length; i += 1) {
    if ((bytes[at + i]! | lowerCase) !== word[i]) return false;
  }
  return true;
}

const twoTo32 = 2 ** 32;
/** Longer times are rejected: more than 16 digits take the slow path. */
const maxTimeBytes = 64;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** Reads a time into `time`. @returns the position after it. @throws AppError `malformed` */
export function readTime(
  bytes: Buffer,
  start: number,
  time: TimeScanner,
  grammar: Grammar,
): number {
  const isWhole = grammar.times === 'milliseconds';
  const end = isWhole ? time.scanMillis(bytes, start) : time.scanSeconds(bytes, start);
  if (end === outOfRange) failAt(bytes, start, 'a time that fits into 64 bits of milliseconds');
  if (end < 0 || !endsToken(bytes[end])) {
    failAt(bytes, start, isWhole ? 'a time in whole milliseconds' : 'a time in seconds');
  }
  return end;
}

/** Holds the time read or set last. */
export class TimeScanner implements Time {
  low = 0;
  high = 0;
  /** Unix ms as a double, rounded: exact enough for the day. */
  millis = 0;
  readonly #numbers = new NumberScanner();

  /** @param millis a whole number below 2^53. */
  set(millis: number): void {
    const high = Math.floor(millis / twoTo32);
    this.millis = millis;
    this.high = high | 0;
    this.low = (millis - high * twoTo32) >>> 0;
  }

  /** Whole ms. @returns the position after it, `notANumber`, or `outOfRange` of 64 bits */
  scanMillis(bytes: Buffer, start: number): number {
    const sign = bytes[start];
    let at = sign === plus || sign === minus ? start + 1 : start;
    const first = at;
    let millis = 0;
    for (let digit = bytes[at]! - 0x30; digit >= 0 && digit < 10; digit = bytes[++at]! - 0x30) {
      millis = millis * 10 + digit;
    }
    if (at === first) return notANumber;
    if (millis >= exactBelow) return this.#setExactly(bytes, start, at, 0);
    this.set(sign === minus && millis > 0 ? -millis : millis);
    return at;
  }

  /** Decimal seconds; rounds half away from zero. Returns as `scanMillis`. */
  scanSeconds(bytes: Buffer, start: number): number {
    const numbers = this.#numbers;
    const end = numbers.scanDecimal(bytes, start);
    if (end < 0) return end;
    const { mantissa, power, isNegative } = numbers;
    const millis = numbers.isExact ? toWhole(mantissa, power + 3) : exactBelow;
    if (millis >= exactBelow) return this.#setExactly(bytes, start, end, power + 3);
    this.set(isNegative && millis > 0 ? -millis : millis);
    return end;
  }

  /** @param power of ten of the last digit */
  #setExactly(bytes: Buffer, start: number, end: number, power: number): number {
    if (end - start > maxTimeBytes) return outOfRange;
    const text = bytes.toString('latin1', start, end);
    const digits = BigInt(/^[+-]?([\d.]*)/.exec(text)![1]!.replace('.', ''));
    const size = shiftDecimals(digits, power);
    const millis = text.startsWith('-') ? -size : size;
    if (millis < minInt64 || millis > maxInt64) return outOfRange;
    this.millis = Number(millis);
    this.low = Number(BigInt.asUintN(32, millis));
    this.high = Number(BigInt.asIntN(32, millis >> 32n));
    return end;
  }
}

/** `mantissa` · 10^`power` rounded to a whole number; 2^53 if it is too large for this path. */
function toWhole(mantissa: number, power: number): number {
  if (mantissa === 0) return 0;
  if (power >= 0) return power > 15 ? exactBelow : mantissa * 10 ** power;
  if (power < -15) return exactBelow;
  const divisor = 10 ** -power;
  const rest = mantissa % divisor;
  return (mantissa - rest) / divisor + (2 * rest >= divisor ? 1 : 0);
}

/**
 * Like `toWhole`, for digits of any size. Powers are capped once the result is out of range or 0
 * anyway.
 */
function shiftDecimals(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(Math.min(power, maxTimeBytes));
  const divisor = 10n ** BigInt(Math.min(-power, 2 * maxTimeBytes));
  return (2n * digits + divisor) / (2n * divisor);
}
