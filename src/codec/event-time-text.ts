/**
 * Parses the times that loggers write as text. The table of forms in docs/senders/json-logs.md is
 * the source of the tests.
 */
import { type EventTime, parseEpoch, parseRfc3339 } from './event-time.ts';

/** Longer texts are not parsed. */
const maxTimeLength = 64;

const epoch = /^\d+(?:\.\d+)?$/;
const zone = '(?: ?(Z|UTC|GMT|UT|[+-]\\d\\d(?::?\\d\\d)?))?';
/** ISO 8601 in its usual variants: Log4j2, logback, Python, Go, nginx, PostgreSQL. */
const iso = new RegExp(
  `^(\\d{4})[-/](\\d\\d)[-/](\\d\\d)(?:T| )(\\d\\d:\\d\\d:\\d\\d)(?:[.,](\\d+))?${zone}$`,
  'i',
);
/** RFC 1123 (RFC 9110 §5.6.7), and RFC 5322 with a numeric zone. */
const rfc1123 =
  /^(?:[a-z]{3}, )?(\d\d?) ([a-z]{3}) (\d{4}) (\d\d:\d\d:\d\d) (GMT|UTC|UT|[+-]\d{4})$/i;
/** The common log format of web servers. */
const commonLog = /^\[?(\d\d)\/([a-z]{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})\]?$/i;

const months = [
  'jan',
  'feb',
  'mar',
  'apr',
  'may',
  'jun',
  'jul',
  'aug',
  'sep',
  'oct',
  'nov',
  'dec',
] as const;

/**
 * @param text ASCII in [start, end). A time without a zone is UTC.
 * @returns undefined for other text, an impossible date, or a time outside 1970 to 2148
 */
export function parseTimeText(text: Buffer, start: number, end: number): EventTime | undefined {
  if (end - start > maxTimeLength) return undefined;
  return (
    parseRfc3339(text, start, end) ?? parseOtherForm(text.toString('latin1', start, end).trim())
  );
}

function parseOtherForm(text: string): EventTime | undefined {
  if (epoch.test(text)) return parseEpoch(text);
  const standard = toRfc3339(text);
  if (standard === undefined) return undefined;
  const bytes = Buffer.from(standard, 'latin1');
  return parseRfc3339(bytes, 0, bytes.length);
}

function toRfc3339(text: string): string | undefined {
  const isoParts = iso.exec(text);
  if (isoParts !== null) {
    const [, year = '', month = '', day = '', clock = '', fraction = '', offset = ''] = isoParts;
    const second = fraction === '' ? clock : `${clock}.${fraction}`;
    return `${year}-${month}-${day}T${second}${toZone(offset)}`;
  }
  const parts = rfc1123.exec(text) ?? commonLog.exec(text);
  if (parts === null) return undefined;
  const [, day = '', name = '', year = '', clock = '', offset = ''] = parts;
  const month = months.findIndex((one) => one === name.toLowerCase()) + 1;
  if (month === 0) return undefined;
  const date = `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`;
  return `${date}T${clock}${toZone(offset)}`;
}

/** @param offset hours and perhaps minutes; a name, or '' for none, is UTC */
function toZone(offset: string): string {
  if (!/^[+-]/.test(offset)) return 'Z';
  const minutes = offset.length > 3 ? offset.slice(-2) : '00';
  return `${offset.slice(0, 3)}:${minutes}`;
}
