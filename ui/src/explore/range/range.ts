/** Time ranges: resolve, display, move, parse. Pure. */
import { roundSteps } from '../../../../src/model/round-steps.ts';
import {
  formatMs,
  formatSpan,
  formatTime,
  offsetMs,
  type Zone,
} from '../../parts/text/time-text.ts';
import { parseSpan, type Range, type TimeBounds } from '../query.ts';

export const presets = [
  '5m',
  '15m',
  '30m',
  '1h',
  '3h',
  '6h',
  '12h',
  '24h',
  '2d',
  '7d',
  '14d',
  '30d',
] as const;

/** `Last 90 minutes`, `Last hour`, or `2026-04-01 08:30:00 – 09:00:00` */
export function formatRange(range: Range, zone: Zone): string {
  if (range.kind === 'relative') return `Last ${spanWords(range.span)}`;
  return formatSpan(Date.parse(range.from), Date.parse(range.until), zone);
}

/** `90 minutes`, `hour` */
export function spanWords(span: string): string {
  const count = Number(span.slice(0, -1));
  const unit = unitWords[span.slice(-1)]?.at(-1) ?? '';
  return count === 1 ? unit : `${count} ${unit}s`;
}

/** Moves the range by its length, back or forth. */
export function stepRange(bounds: TimeBounds, direction: 'earlier' | 'later'): Range {
  const { sinceMs, untilMs } = toMs(bounds);
  const shiftMs = (untilMs - sinceMs) * (direction === 'earlier' ? -1 : 1);
  return toAbsolute(sinceMs + shiftMs, untilMs + shiftMs);
}

/** Doubles the range: a relative one reaches further back, an absolute one grows at both ends. */
export function zoomOut(range: Range, bounds: TimeBounds, nowMs: number): Range {
  const { sinceMs, untilMs } = toMs(bounds);
  if (range.kind === 'relative') {
    const span = toSpan((untilMs - sinceMs) * 2);
    return parseSpan(span) === undefined ? range : { kind: 'relative', span };
  }
  const half = Math.max(1, Math.ceil((untilMs - sinceMs) / 2));
  const until = Math.max(untilMs, Math.min(untilMs + half, nowMs));
  return toAbsolute(until - 2 * (untilMs - sinceMs) - (half === 1 ? 1 : 0), until);
}

/** The times of a run, and the number of its bars. */
export interface ResolvedRange {
  readonly bounds: TimeBounds;
  readonly buckets: number;
}

export interface Bars {
  /** Maximum number of bars. */
  readonly fitting: number;
  readonly zone: Zone;
}

/**
 * Resolves a range to absolute times; once per run, so that all parts of the page use the same. A
 * relative range is widened to bars that begin at round times of the zone.
 */
export function resolveRange(range: Range, nowMs: number, bars: Bars): ResolvedRange {
  if (range.kind === 'absolute') {
    return divide(Date.parse(range.from), Date.parse(range.until), bars);
  }
  const spanMs = parseSpan(range.span) ?? 0;
  const startOf = (step: number) => floorIn(bars.zone, Math.max(0, nowMs - spanMs), step);
  const shortest = barLength(spanMs, bars.fitting);
  // With the rest of the current second, bars of less than a second may be too many.
  const fits = (step: number) => (secondEnd(nowMs) - startOf(step)) / step <= bars.fitting + 2;
  const step = roundSteps.find((ms) => ms >= shortest && fits(ms)) ?? shortest;
  const sinceMs = startOf(step);
  return extend({ sinceMs, untilMs: sinceMs }, nowMs, { ...bars, step });
}

/** These times up to now: what a live list has received since they were resolved. */
export function untilNow({ bounds, buckets }: ResolvedRange, nowMs: number, bars: Bars) {
  const times = toMs(bounds);
  const step = (times.untilMs - times.sinceMs) / buckets;
  return extend(times, nowMs, { ...bars, step });
}

/** Appends bars of this length, in ms, until they cover this second. */
function extend(
  { sinceMs, untilMs }: ReturnType<typeof toMs>,
  nowMs: number,
  { step, ...bars }: Bars & { readonly step: number },
): ResolvedRange {
  const missing = Math.max(0, Math.ceil((secondEnd(nowMs) - untilMs) / step));
  return divide(sinceMs, Math.min(Math.ceil(untilMs + missing * step), lastMs), bars);
}

/** The end of this second includes its logs. */
function secondEnd(nowMs: number): number {
  return Math.floor(nowMs / 1000) * 1000 + 1000;
}

/** Cuts the range into bars of a round length if one divides it, else into equal parts. */
function divide(sinceMs: number, untilMs: number, { fitting, zone }: Bars): ResolvedRange {
  const bounds = {
    sinceTime: new Date(sinceMs).toISOString(),
    untilTime: new Date(untilMs).toISOString(),
  };
  const spanMs = untilMs - sinceMs;
  const step = roundSteps.find(
    (ms) =>
      spanMs % ms === 0 && spanMs / ms <= fitting + 2 && floorIn(zone, sinceMs, ms) === sinceMs,
  );
  if (step !== undefined && spanMs / step >= fitting / 6) return { bounds, buckets: spanMs / step };
  // The service cuts at milliseconds, so no bar is shorter.
  return { bounds, buckets: Math.max(1, Math.min(fitting, spanMs)) };
}

function barLength(spanMs: number, fitting: number): number {
  return roundSteps.find((ms) => spanMs / ms <= fitting) ?? roundSteps.at(-1)!;
}

function floorIn(zone: Zone, ms: number, step: number): number {
  const offset = offsetMs(ms, zone);
  return Math.max(0, Math.floor((ms + offset) / step) * step - offset);
}

/** Clamps to at least 1 ms and to what the API accepts. */
export function toAbsolute(fromMs: number, untilMs: number): Range {
  const from = Math.max(0, Math.min(fromMs, lastMs - 1));
  const until = Math.max(from + 1, Math.min(untilMs, lastMs));
  return {
    kind: 'absolute',
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
  };
}

/**
 * Unix ms of typed or pasted input: `2026-04-01 08:30` and similar in the selected zone, ISO with a
 * zone, seconds or milliseconds since 1970, `now`, `now-90m`.
 */
export function parseMoment(text: string, zone: Zone, nowMs: number): number | undefined {
  const trimmed = text.trim();
  const ms = parseNow(trimmed, nowMs) ?? parseEpoch(trimmed) ?? parseDate(trimmed, zone);
  return ms !== undefined && ms >= 0 && ms <= lastMs ? ms : undefined;
}

/**
 * As `parseMoment`, but an unedited text stands for its original time: in the hour that clocks
 * repeat in autumn, one local time is two moments.
 * @param shown ISO time that the text was before it was edited
 */
export function editedMoment(
  text: string,
  shown: string,
  at: { readonly zone: Zone; readonly nowMs: number },
): number | undefined {
  const isUnchanged = text.trim() === momentText(shown, at.zone);
  return isUnchanged ? Date.parse(shown) : parseMoment(text, at.zone, at.nowMs);
}

/** An ISO time in a field that is edited: `2026-04-01 08:30:00` */
export function momentText(iso: string, zone: Zone): string {
  return formatTime(iso, zone).replace(/\.000$/, '');
}

/** Parses a span: `90m`, `90 min`, `2 hours`, `last 3d`. */
export function parseSpanWords(text: string): string | undefined {
  const [, count, word = ''] =
    /^(?:last\s+)?(\d{1,9})\s*([a-z]+)$/.exec(text.trim().toLowerCase()) ?? [];
  const singular = word.length > 1 ? word.replace(/s$/, '') : word;
  const [unit] = Object.entries(unitWords).find(([, words]) => words.includes(singular)) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const span = `${Number(count)}${unit}`;
  return parseSpan(span) === undefined ? undefined : span;
}

const unitWords: Readonly<Record<string, readonly string[]>> = {
  s: ['s', 'sec', 'second'],
  m: ['m', 'min', 'minute'],
  h: ['h', 'hr', 'hour'],
  d: ['d', 'day'],
  w: ['w', 'wk', 'week'],
};

const lastMs = Date.UTC(2149, 0);

function parseNow(text: string, nowMs: number): number | undefined {
  const [isNow, span] = /^now(?:\s*-\s*(\w+))?$/i.exec(text) ?? [];
  if (isNow === undefined) return undefined;
  const spanMs = span === undefined ? 0 : parseSpan(span.toLowerCase());
  return spanMs === undefined ? undefined : nowMs - spanMs;
}

function parseEpoch(text: string): number | undefined {
  if (/^\d{9,10}$/.test(text)) return Number(text) * 1000;
  return /^\d{12,13}$/.test(text) ? Number(text) : undefined;
}

function parseDate(text: string, zone: Zone): number | undefined {
  const [, day, time = '00:00', own] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/i.exec(
      text,
    ) ?? [];
  if (day === undefined) return undefined;
  const ms = Date.parse(`${day}T${time}${own ?? (zone === 'utc' ? 'Z' : '')}`);
  if (Number.isNaN(ms)) return undefined;
  // `Date` turns 31 February into 3 March.
  const isReal = own !== undefined || formatMs(ms, zone).startsWith(day);
  return isReal ? ms : undefined;
}

function toMs({ sinceTime, untilTime }: TimeBounds) {
  return { sinceMs: Date.parse(sinceTime), untilMs: Date.parse(untilTime) };
}

/** In the largest unit that divides it. */
function toSpan(ms: number): string {
  const sizes = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 };
  const [unit, size] = Object.entries(sizes).find(([, length]) => ms % length === 0) ?? ['s', 1000];
  return `${Math.round(ms / size)}${unit}`;
}
