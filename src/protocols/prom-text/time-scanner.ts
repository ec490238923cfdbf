/**
 * Reads times from bytes to whole Unix milliseconds, 64 bits wide: the decimal text is rounded
 * itself, never the double that is next to it.
 */
import type { Time } from '../../codec/metric-writer.ts';
import { failAt } from './fail-at.ts';
import type { Grammar } from './grammar.ts';
import { NumberScanner, notANumber, outOfRange } from './number-scanner.ts';
import { endsToken } from './tokens.ts';

const twoTo32 = 2 ** 32;
const exactBelow = 2 ** 53;
/** Beyond 16 digits all is slow; nobody writes a time in more than this. */
const maxTimeBytes = 64;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;
const plus = 0x2b;
const minus = 0x2d;

/** @param time is set. @returns the position after the text. @throws AppError `malformed` */
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

/** Holds the last time that was read, or set. */
export class TimeScanner implements Time {
  low = 0;
  high = 0;
  /** The same as a double, for whoever only needs the day. */
  millis = 0;
  readonly #numbers = new NumberScanner();

  /** @param millis a whole number below 2^53. */
  set(millis: number): void {
    const high = Math.floor(millis / twoTo32);
    this.millis = millis;
    this.high = high | 0;
    this.low = (millis - high * twoTo32) >>> 0;
  }

  /** A whole number. @returns the position after it; `notANumber`; or `outOfRange` of 64 bits. */
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

  /** Seconds with a fraction or an exponent; ties are rounded away from zero. Returns likewise. */
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

  /** @param power of ten of the last digit in the text. */
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

/** `mantissa` · 10^`power` to the nearest whole number; 2^53 where that is too large, or slow. */
function toWhole(mantissa: number, power: number): number {
  if (mantissa === 0) return 0;
  if (power >= 0) return power > 15 ? exactBelow : mantissa * 10 ** power;
  if (power < -15) return exactBelow;
  const divisor = 10 ** -power;
  const rest = mantissa % divisor;
  return (mantissa - rest) / divisor + (2 * rest >= divisor ? 1 : 0);
}

/** The same for any size; powers are capped where the answer is settled, and out of range or 0. */
function shiftDecimals(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(Math.min(power, maxTimeBytes));
  const divisor = 10n ** BigInt(Math.min(-power, 2 * maxTimeBytes));
  return (2n * digits + divisor) / (2n * divisor);
}
