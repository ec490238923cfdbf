/** Reads the header of BSD syslog (RFC 3164) as programs and devices write it. */
import type { TextRange } from '../text-slots.ts';
import { type LocalTime, type TimeZone, toUnixMs } from './local-time.ts';

export interface ReadOptions {
  readonly nowMs: number;
  /** Of times without a zone. */
  readonly zone: TimeZone;
}

/** Ranges of the text. */
export interface BsdHeader {
  /** Text for the parser of times. */
  readonly time: string;
  readonly host: TextRange | undefined;
  readonly app: TextRange | undefined;
  readonly procId: TextRange | undefined;
  /** Position of the message. */
  readonly end: number;
}

/** Of a time, a host and a tag, with spaces. */
export const maxHeaderLength = 1024;

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
/** Cisco writes a number, and `*` or `.` for a clock that is not set. */
const bsdTime = new RegExp(
  /^(?:\d{1,10}: )?[*.]?([A-Z][a-z]{2}) {1,2}(\d{1,2}) (?:(\d{4}) )?/.source +
    /(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: (\d{4})(?= |$))?/.source +
    /(?: (UTC|GMT|[+-]\d\d:?\d\d(?= |:)|[A-Z]{3,5}(?=:)))?:?(?= |$)/.source,
);
const isoTime =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?(?= |$)/;
const tag = /([^\t-\r :[\]]{1,64})(?:\[([^\]\t-\r ]{1,128})\])?:(?: |$)/y;
const hostName = /([\w.:%-]{1,255})(?: |$)/y;

/**
 * @param text what follows the priority, at least as much as a header may have, in Latin-1
 * @returns undefined without a time that can be read
 */
export function readBsdHeader(text: string, options: ReadOptions): BsdHeader | undefined {
  const stamped = readTime(text, options);
  if (stamped === undefined) return undefined;
  const { time } = stamped;
  let at = skipSpaces(text, stamped.end);
  let host: TextRange | undefined;
  let tagged = matchAt(tag, text, at);
  if (tagged === null) {
    const [head = '', name] = matchAt(hostName, text, at) ?? [];
    if (name !== undefined) host = { start: at, end: at + name.length };
    at = skipSpaces(text, at + head.length);
    tagged = matchAt(tag, text, at);
  }
  const [head = '', name, id] = tagged ?? [];
  const app = name === undefined ? undefined : { start: at, end: at + name.length };
  const idAt = (app?.end ?? 0) + 1;
  const procId = id === undefined ? undefined : { start: idAt, end: idAt + id.length };
  return { time, host, app, procId, end: at + head.length };
}

function matchAt(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(text);
}

function skipSpaces(text: string, at: number): number {
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function readTime(
  text: string,
  { nowMs, zone }: ReadOptions,
): { readonly time: string; readonly end: number } | undefined {
  const parts = isoTime.exec(text);
  if (parts !== null) {
    const [whole, year, month, day, , , , , offset] = parts;
    // Keeps nanoseconds.
    if (offset !== undefined) return { time: whole, end: whole.length };
    const local = { year: Number(year), month: Number(month) - 1, day: Number(day) };
    const time = toUnixMs({ ...local, ms: msOfDay(parts.slice(4)) }, { nowMs, zone });
    return { time: timeOr(time, whole), end: whole.length };
  }
  const [whole, name = '', day, before, hour, minute, second, fraction, after, offset] =
    bsdTime.exec(text) ?? [];
  const month = months.indexOf(name);
  if (whole === undefined || month < 0) return undefined;
  const year = before ?? after;
  const time: LocalTime = {
    year: year === undefined ? undefined : Number(year),
    month,
    day: Number(day),
    ms: msOfDay([hour, minute, second, fraction]),
  };
  const utc = toUnixMs(time, { nowMs, zone, offsetMs: toOffsetMs(offset) });
  return { time: timeOr(utc, whole), end: whole.length };
}

/** The text of a time that does not exist gets a warning. */
function timeOr(unixMs: number, text: string): string {
  return Number.isNaN(unixMs) ? text : new Date(unixMs).toISOString();
}

function msOfDay([hour, minute, second, fraction = '']: readonly (string | undefined)[]): number {
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  if (hours > 23 || minutes > 59 || seconds > 60) return NaN;
  const seconds60 = (hours * 60 + minutes) * 60 + Math.min(seconds, 59);
  return seconds60 * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

/** Undefined for a name other than UTC: such names are ambiguous. */
function toOffsetMs(offset: string | undefined): number | undefined {
  if (offset === 'UTC' || offset === 'GMT') return 0;
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(offset ?? '') ?? [];
  if (sign === undefined) return undefined;
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -ms : ms;
}
