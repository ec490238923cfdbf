/** Ticks of a time axis at round times of the displayed time zone. Pure. */

export interface TimeTick {
  /** Unix ms. */
  readonly ms: number;
  readonly label: string;
}

const [millisecond, second, minute, hour, day] = [1, 1000, 60_000, 3_600_000, 86_400_000];
/** Round lengths of time in ms, ascending. */
export const roundSteps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((count) => count * millisecond),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 728].map((count) => count * day),
];

export interface TimeAxis {
  readonly startMs: number;
  readonly endMs: number;
  readonly maxTicks: number;
  readonly isUtc: boolean;
}

export function timeTicks({ startMs, endMs, maxTicks, isUtc }: TimeAxis): TimeTick[] {
  const spanMs = endMs - startMs;
  const step = roundSteps.find((size) => spanMs / size <= maxTicks) ?? roundSteps.at(-1)!;
  const ticks: TimeTick[] = [];
  const startOffsetMs = offsetMs(startMs, isUtc);
  // Computed in local time, so that ticks stay round across daylight saving changes.
  let localMs = Math.ceil((startMs + startOffsetMs) / step) * step;
  for (; ticks.length <= maxTicks; localMs += step) {
    const guess = localMs - startOffsetMs;
    // Steps below an hour are round in UTC too, and cover the repeated hour twice.
    const ms = step <= hour ? guess : localMs - offsetMs(guess, isUtc);
    if (ms > endMs) break;
    if (ms >= startMs) ticks.push({ ms, label: labelOf(zonedText(ms, isUtc), step) });
  }
  return ticks;
}

/** `2026-04-01 08:30:00.123` */
function zonedText(ms: number, isUtc: boolean): string {
  return new Date(ms + offsetMs(ms, isUtc)).toISOString().slice(0, 23).replace('T', ' ');
}

/** `2026-04-01 08:30:00 – 08:31:00`: the end is abbreviated. */
export function spanText(fromMs: number, untilMs: number, isUtc: boolean): string {
  const hasFractions = fromMs % second !== 0 || untilMs % second !== 0;
  const [from, until] = [fromMs, untilMs].map((ms) =>
    zonedText(ms, isUtc).slice(0, hasFractions ? 23 : 19),
  ) as [string, string];
  return `${from} – ${from.slice(0, 10) === until.slice(0, 10) ? until.slice(11) : until}`;
}

function labelOf(text: string, step: number): string {
  if (step > 28 * day) return text.slice(0, 7);
  if (step >= day || (step >= minute && text.endsWith('00:00:00.000'))) return text.slice(5, 10);
  if (step >= minute) return text.slice(11, 16);
  return text.slice(11, step >= second ? 19 : 23);
}

/** What to add to Unix ms for the time on a clock. */
export function offsetMs(ms: number, isUtc: boolean): number {
  return isUtc ? 0 : -new Date(ms).getTimezoneOffset() * minute;
}
