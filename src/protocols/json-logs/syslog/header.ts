/**
 * Reads one syslog message: RFC 5424, or BSD syslog (RFC 3164) as programs and devices write it.
 */
import { type LocalTime, type TimeZone, toUnixMs } from './local-time.ts';
import { readStructuredData } from './structured-data.ts';

export interface SyslogMessage {
  readonly facility?: string | undefined;
  /** 0 to 7. */
  readonly severity?: number | undefined;
  /** Text for the parser of times. */
  readonly time?: string | undefined;
  readonly host?: string | undefined;
  readonly app?: string | undefined;
  readonly procId?: string | undefined;
  readonly msgId?: string | undefined;
  /** Structured data as `id.name`. */
  readonly data?: ReadonlyMap<string, string>;
  readonly message: string;
  /** False if the text has no header that can be read. */
  readonly hasHeader: boolean;
}

export interface ReadOptions {
  readonly nowMs: number;
  /** Of times without a zone. */
  readonly zone: TimeZone;
}

/** RFC 5424 §6.2.1, by number. */
const facilities = (
  'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock ' +
  'local0 local1 local2 local3 local4 local5 local6 local7'
).split(' ');
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

const priority = /^<(\d{1,3})>/;
const rfc5424 = /^1 (\S{1,64}) (\S{1,255}) (\S{1,128}) (\S{1,128}) (\S{1,128}) (?=[[-])/;
/** Cisco writes a number, and `*` or `.` for a clock that is not set. */
const bsdTime = new RegExp(
  /^(?:\d{1,10}: )?[*.]?([A-Z][a-z]{2}) {1,2}(\d{1,2}) (?:(\d{4}) )?/.source +
    /(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: (\d{4})(?= |$))?/.source +
    /(?: (UTC|GMT|[+-]\d\d:?\d\d(?= |:)|[A-Z]{3,5}(?=:)))?:?(?= |$)/.source,
);
const isoTime =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?(?= |$)/;
const tag = /^([^\s:[\]]{1,64})(?:\[([^\]\s]{1,128})\])?:(?: |$)/;
const hostName = /^([\w.:%-]{1,255})(?: |$)/;

export function readMessage(text: string, options: ReadOptions): SyslogMessage {
  const [head, digits] = priority.exec(text) ?? [];
  const code = Number(digits ?? NaN);
  if (head === undefined || code > 191) return { message: text, hasHeader: false };
  const origin = { facility: facilities[code >> 3], severity: code & 7 };
  const rest = text.slice(head.length);
  return { ...origin, ...(readStandard(rest) ?? readBsd(rest, options)) };
}

/** @returns undefined for another form */
function readStandard(text: string): SyslogMessage | undefined {
  const [head, time = '', host, app, procId, msgId] = rfc5424.exec(text) ?? [];
  if (head === undefined) return undefined;
  const read = readStructuredData(text, head.length);
  if (read === undefined || ![' ', undefined].includes(text[read.end])) return undefined;
  // rsyslog repeats the space that BSD syslog has after a tag.
  const body = text.slice(read.end + 1).replace(/^ /, '');
  return {
    time: valueOf(time),
    host: valueOf(host),
    app: valueOf(app),
    procId: valueOf(procId),
    msgId: valueOf(msgId),
    data: read.data,
    message: body.startsWith('\ufeff') ? body.slice(1) : body,
    hasHeader: true,
  };
}

/** The sign `-` stands for none. */
function valueOf(text: string | undefined): string | undefined {
  return text === '-' ? undefined : text;
}

function readBsd(text: string, options: ReadOptions): SyslogMessage {
  const stamped = readTime(text, options);
  if (stamped === undefined) return { message: text.trimStart(), hasHeader: false };
  let rest = text.slice(stamped.end).trimStart();
  const { time } = stamped;
  let host: string | undefined;
  if (!tag.test(rest)) {
    const [head, name] = hostName.exec(rest) ?? [];
    host = name;
    rest = rest.slice(head?.length ?? 0).trimStart();
  }
  const [head, app, procId] = tag.exec(rest) ?? [];
  const message = rest.slice(head?.length ?? 0);
  return { time, host, app, procId, message, hasHeader: true };
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
