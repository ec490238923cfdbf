/** Parses times of the command line and formats times for people. */
import { InvalidArgumentError } from 'commander';
import { type EventTime, parseEpoch } from '../../codec/event-time.ts';
import { roundSteps } from '../../model/round-steps.ts';
import { parseDuration } from '../../promql/parser/numbers.ts';

export type Zone = 'local' | 'utc';

export const instantHelp = '15m, 1h30m, 3d or now-1h ago; 2027-01-31, 2027-01-31T08:30:00Z';

const dateForm = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?$/;
const offsetForm = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)$/;
/** Fewer digits are no time of a log. */
const epochForm = /^\d{9}\d*(?:\.\d+)?$/;

/**
 * Durations (`1h`, `now-1h`) count back from now; a date without an offset is in the zone.
 * @returns RFC 3339 with the given digits.
 * @throws InvalidArgumentError
 */
export function toInstant(text: string, nowMs: number, zone: Zone): string {
  const trimmed = text.trim();
  if (trimmed === 'now') return new Date(nowMs).toISOString();
  const seconds = parseDuration(trimmed.replace(/^now-/, ''));
  if (seconds !== undefined) return new Date(Math.max(0, nowMs - seconds * 1000)).toISOString();
  const unixTime = epochForm.test(trimmed) ? parseEpoch(trimmed) : undefined;
  if (unixTime !== undefined) return toRfc3339(unixTime);
  const withOffset = offsetForm.test(trimmed) ? trimmed : toZoned(trimmed, zone);
  if (withOffset !== undefined && !Number.isNaN(Date.parse(withOffset))) {
    const upper = withOffset.replace(' ', 'T').toUpperCase();
    return upper.replace(/T(\d\d:\d\d)(?=[Z+-])/, 'T$1:00');
  }
  throw new InvalidArgumentError(`Give a time such as ${instantHelp}.`);
}

function toRfc3339({ millis, nanos }: EventTime): string {
  const iso = new Date(millis).toISOString();
  return nanos === 0 ? iso : `${iso.slice(0, -1)}${String(nanos).padStart(6, '0')}Z`;
}

/** `2026-11-21 08:30:00.123`, with a Z where the zone is UTC. */
export function showInstant(iso: string, zone: Zone): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  if (zone === 'utc') return time.toISOString().replace('T', ' ');
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, -1).replace('T', ' ');
}

export interface RoundRange {
  /** Unix ms, as `untilMs`. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Equal parts, each of a round length. */
  readonly parts: number;
}

/** Widens a range to parts that begin at round times of the zone: at most two more than `most`. */
export function toRoundRange(
  { sinceMs, untilMs }: Omit<RoundRange, 'parts'>,
  { most, zone }: { readonly most: number; readonly zone: Zone },
): RoundRange {
  const spanMs = untilMs - sinceMs;
  const length = roundSteps.find((ms) => spanMs / ms <= most) ?? roundSteps.at(-1)!;
  const offsetMs = zone === 'utc' ? 0 : -new Date(sinceMs).getTimezoneOffset() * 60_000;
  const start = Math.max(0, Math.floor((sinceMs + offsetMs) / length) * length - offsetMs);
  const parts = Math.max(1, Math.ceil((untilMs - start) / length));
  return { sinceMs: start, untilMs: start + parts * length, parts };
}

function toZoned(text: string, zone: Zone): string | undefined {
  const match = dateForm.exec(text);
  if (!match) return undefined;
  const [, date = '', time = '00:00'] = match;
  const seconds = time.length === 5 ? `${time}:00` : time;
  if (zone === 'utc') return `${date}T${seconds}Z`;
  const minutes = -new Date(`${date}T${seconds}`).getTimezoneOffset();
  const ahead = Math.abs(minutes);
  const offset = `${twoDigits(Math.floor(ahead / 60))}:${twoDigits(ahead % 60)}`;
  return `${date}T${seconds}${minutes < 0 ? '-' : '+'}${offset}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
