/**
 * Parses the times of events and requests: RFC 3339, or Unix time in s, ms, µs or ns by its
 * magnitude. A time is whole ms plus ns, because Unix ns exceed 2^53.
 */
import { maxEventTimeMillis } from '../model/log-id.ts';

export interface EventTime {
  /** Unix ms, in [0, maxEventTimeMillis). */
  readonly millis: number;
  /** 0 to 999,999. */
  readonly nanos: number;
}

const minus = 0x2d;
const colon = 0x3a;

/**
 * RFC 3339; fraction digits beyond nine are truncated. A leap second is the last ns of its minute.
 * @returns undefined for other text, an impossible date, or a time outside 1970 to 2148
 */
export function parseRfc3339(text: Uint8Array, start: number, end: number): EventTime | undefined {
  const time = parseAnyRfc3339(text, start, end);
  return time === undefined || !isInRange(time.millis) ? undefined : time;
}

/** As `parseRfc3339`, in any of the years 0 to 9999; times before 1970 have negative `millis`. */
export function parseAnyRfc3339(
  text: Uint8Array,
  start: number,
  end: number,
): EventTime | undefined {
  if (end - start < 20 || text[start + 4] !== minus || text[start + 7] !== minus) return undefined;
  if (text[start + 13] !== colon || text[start + 16] !== colon) return undefined;
  if (!isDateSeparator(text[start + 10])) return undefined;
  const year = twoDigits(text, start) * 100 + twoDigits(text, start + 2);
  const days = toDays(year, twoDigits(text, start + 5), twoDigits(text, start + 8));
  const hour = twoDigits(text, start + 11);
  const minute = twoDigits(text, start + 14);
  const second = twoDigits(text, start + 17);
  const zoneAt = skipFraction(text, start + 19, end);
  const zoneMinutes = parseZone(text, zoneAt, end);
  // NaN means a missing digit and fails each comparison.
  if (Number.isNaN(days) || !(hour < 24 && minute < 60 && second <= 60)) return undefined;
  if (Number.isNaN(zoneMinutes) || zoneAt === start + 20) return undefined;
  const leap = second === 60;
  const seconds = ((days * 24 + hour) * 60 + minute - zoneMinutes) * 60 + (leap ? 59 : second);
  const fraction = leap ? 999_999_999 : toNanoseconds(text, start + 20, zoneAt);
  const millis = seconds * 1000 + Math.floor(fraction / 1_000_000);
  return { millis, nanos: fraction % 1_000_000 };
}

function isDateSeparator(byte: number | undefined): boolean {
  return byte === 0x54 || byte === 0x74 || byte === 0x20;
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** @returns NaN if either is not a digit */
function twoDigits(text: Uint8Array, at: number): number {
  const tens = text[at];
  const ones = text[at + 1];
  return isDigit(tens) && isDigit(ones) ? (tens - 0x30) * 10 + ones - 0x30 : Number.NaN;
}

/** @returns the position of the zone: `at` without a fraction, `at + 1` for a point only */
function skipFraction(text: Uint8Array, at: number, end: number): number {
  if (text[at] !== 0x2e) return at;
  let zoneAt = at + 1;
  while (zoneAt < end && isDigit(text[zoneAt])) zoneAt += 1;
  return zoneAt;
}

/** The fraction in ns. */
function toNanoseconds(text: Uint8Array, start: number, zoneAt: number): number {
  let value = 0;
  for (let at = start; at < start + 9; at += 1) {
    value = value * 10 + (at < zoneAt ? text[at]! - 0x30 : 0);
  }
  return value;
}

/** Minutes east of UTC; NaN if the text does not end with a zone. */
function parseZone(text: Uint8Array, at: number, end: number): number {
  const sign = text[at];
  if ((sign === 0x5a || sign === 0x7a) && end === at + 1) return 0;
  if (end !== at + 6 || text[at + 3] !== colon) return Number.NaN;
  const hour = twoDigits(text, at + 1);
  const minute = twoDigits(text, at + 4);
  if (!(hour < 24 && minute < 60)) return Number.NaN;
  if (sign === 0x2b) return hour * 60 + minute;
  return sign === minus ? -(hour * 60 + minute) : Number.NaN;
}

const plainNumber = /^(\d+)(?:\.(\d+))?$/;

/**
 * @param text a JSON number as sent; one with an exponent has the precision of a double
 * @returns undefined for a negative number or a time outside 1970 to 2148
 */
export function parseEpoch(text: string): EventTime | undefined {
  const match = plainNumber.exec(text);
  if (match === null) {
    const value = /^\d/.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(value) && value >= 0 && value < 1e21
      ? parseEpoch(toPlain(value))
      : undefined;
  }
  const whole = match[1]!.replace(/^0+(?=\d)/, '');
  const unitDigits = toFractionDigits(whole.length);
  if (unitDigits === undefined) return undefined;
  const shift = 9 - unitDigits;
  const fraction = (match[2] ?? '').slice(0, shift).padEnd(shift, '0');
  const nanoseconds = (whole + fraction).padStart(10, '0');
  const millis = Number(nanoseconds.slice(0, -6));
  return isInRange(millis) ? { millis, nanos: Number(nanoseconds.slice(-6)) } : undefined;
}

/** Accepted forms of times in requests, for error messages. */
export const requestTimeForm =
  'a time from 1970 to 2148: RFC 3339, or Unix time in s, ms, µs or ns';

/**
 * The time of a request: RFC 3339, where a space that a query string made of `+` is accepted, or
 * Unix time as of events, except that numbers below nine digits are ms.
 * @returns undefined for other text and a time outside 1970 to 2148
 */
export function parseRequestTime(text: string): EventTime | undefined {
  if (/^0*\d{1,8}$/.test(text)) return { millis: Number(text), nanos: 0 };
  if (plainNumber.test(text)) return /^\d{9}/.test(text) ? parseEpoch(text) : undefined;
  const bytes = Buffer.from(text.replace(/ (\d\d:\d\d)$/, '+$1'), 'latin1');
  return parseRfc3339(bytes, 0, bytes.length);
}

/** Decimal digits of the unit within a second, by the number of digits before the point. */
function toFractionDigits(digits: number): 0 | 3 | 6 | 9 | undefined {
  if (digits <= 10) return 0;
  if (digits <= 13) return 3;
  if (digits <= 16) return 6;
  return digits <= 19 ? 9 : undefined;
}

/** Parses a number that is that of the last event only once: senders of whole seconds repeat it. */
export class EpochReader {
  #text = '';
  #time: EventTime | undefined;

  read(bytes: Buffer, start: number, end: number): EventTime | undefined {
    const text = bytes.toString('latin1', start, end);
    if (text === this.#text) return this.#time;
    this.#text = text;
    this.#time = parseEpoch(text);
    return this.#time;
  }
}

function toPlain(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : value.toFixed(9);
}

function isInRange(millis: number): boolean {
  return millis >= 0 && millis < maxEventTimeMillis;
}

const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const daysInMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days since 1970-01-01 in the Gregorian calendar; NaN for a date that does not exist. */
function toDays(year: number, month: number, day: number): number {
  const before = daysBeforeMonth[month - 1];
  if (before === undefined || !(day >= 1)) return Number.NaN;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (day > daysInMonth[month - 1]! + (leap && month === 2 ? 1 : 0)) return Number.NaN;
  const past = year - 1;
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  return year * 365 + leapDays + before + (leap && month > 2 ? 1 : 0) + day - 719_528;
}
