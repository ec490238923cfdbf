/**
 * Lines of InfluxDB's line protocol
 * (https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol): finds the parts of a
 * line, and reads its values and time.
 */
import { type Label, metricNameLabel } from '../../model/metric-plan.ts';
import { decimal } from '../../std/decimal.ts';

const backslash = 0x5c;
const comma = 0x2c;
const equals = 0x3d;
const quote = 0x22;
const space = 0x20;
const newline = 0x0a;
const hash = 0x23;

/** @returns the position of the first byte of `ends` that is not escaped, at most `end` */
export function findEnd(
  bytes: Buffer,
  start: number,
  end: number,
  ends: readonly number[],
): number {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at]!;
    if (byte === backslash) at += 1;
    else if (ends.includes(byte)) return at;
  }
  return end;
}

/**
 * @returns the position of the line break; one inside of a text ends no line. Only the value of a
 *   field is a text: other quotes are characters like any.
 */
export function findLineEnd(bytes: Buffer, start: number): number {
  let first = start;
  while (bytes[first] === space) first += 1;
  if (bytes[first] === hash) return indexOrEnd(bytes, first);
  let areFields = false;
  let isText = false;
  /** Not escaped. */
  let isAfterEquals = false;
  for (let at = first; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === newline && !isText) return at;
    if (byte === quote) isText = !isText && areFields && isAfterEquals;
    else if (byte === space) areFields = true;
    else if (byte === backslash && bytes[at + 1] !== newline) at += 1;
    isAfterEquals = byte === equals;
  }
  return bytes.length;
}

function indexOrEnd(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(newline, start);
  return end < 0 ? bytes.length : end;
}

export const seriesEnds = [space];
export const keyEnds = [equals, comma, space];

/** @returns the position after a field's value, which may be a text with spaces */
export function findValueEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  if (bytes[at] === quote) {
    for (at += 1; at < end && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1;
    at += 1;
  }
  while (at < end && bytes[at] !== comma && bytes[at] !== space) at += 1;
  return Math.min(at, end);
}

const whole = /^[+-]?\d+[iu]$/;
const booleans: ReadonlyMap<string, number> = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map((word) => [word, 1] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((word) => [word, 0] as const),
]);

/** @returns `text` for a text, undefined for what is no value */
export function readValue(text: string): number | 'text' | undefined {
  if (decimal.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  if (whole.test(text)) return Number(text.slice(0, -1));
  if (isQuoted(text)) return 'text';
  return booleans.get(text);
}

/** Without an expression, whose stack a text of some megabytes would exceed. */
function isQuoted(value: string): boolean {
  if (!value.startsWith('"')) return false;
  let at = 1;
  for (; at < value.length && value[at] !== '"'; at += 1) if (value[at] === '\\') at += 1;
  return at === value.length - 1;
}

/** Nanoseconds of each precision of a request. */
const nanosByPrecision: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['n', 1n],
  ['us', 1_000n],
  ['u', 1_000n],
  ['µ', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
export const precisions = [...nanosByPrecision.keys()].join(', ');
const nanosPerMilli = 1_000_000n;

/** @returns how to read a time as Unix ms, undefined for an unknown precision */
export function createTimeReader(
  precision: string,
): ((text: string) => number | undefined) | undefined {
  const nanos = nanosByPrecision.get(precision);
  if (nanos === undefined) return undefined;
  return (text) => {
    if (!/^-?\d{1,19}$/.test(text)) return undefined;
    // The usual one, without big integers.
    if (nanos === 1n && text.length === 19) return Number(text.slice(0, -6));
    const value = BigInt(text) * nanos;
    const millis = value / nanosPerMilli;
    return Number(value < 0n && value % nanosPerMilli !== 0n ? millis - 1n : millis);
  };
}

/**
 * The labels of a field's series: `measurement_field`, with tags as labels.
 * @param series `measurement,tag=value,…`
 * @returns the reason to reject it, without data of the sender
 */
export function toLabels(series: Buffer, field: string, database: string): Label[] | string {
  const nameEnd = findEnd(series, 0, series.length, [comma]);
  if (nameEnd === 0) return 'no measurement';
  const name = `${unescape(series, 0, nameEnd)}_${field}`;
  const labels: Label[] = [[metricNameLabel, toName(name, /[^\w:]/g)]];
  for (let at = nameEnd + 1; at <= series.length; ) {
    const keyEnd = findEnd(series, at, series.length, [equals, comma]);
    if (series[keyEnd] !== equals || keyEnd === at) return 'a tag without a value';
    const end = findEnd(series, keyEnd + 1, series.length, [comma]);
    labels.push([toName(unescape(series, at, keyEnd), /\W/g), unescape(series, keyEnd + 1, end)]);
    at = end + 1;
  }
  const hasDatabase = labels.some(([label]) => label === 'db');
  return database === '' || hasDatabase ? labels : [...labels, ['db', database]];
}

/** As Prometheus requires of names: other characters become underscores. */
function toName(text: string, others: RegExp): string {
  const name = text.replace(others, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

export function unescape(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end).replaceAll(/\\([,= ])/g, '$1');
}
