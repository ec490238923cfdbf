/** Ticks of a time axis at round times of the displayed time zone. Pure. */
import { roundSteps } from '../../../src/model/round-steps.ts';
import { formatMs, offsetMs, type Zone } from '../parts/text/time-text.ts';

export interface TimeTick {
  /** Unix ms. */
  readonly ms: number;
  readonly label: string;
}

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

export interface TimeAxis {
  readonly startMs: number;
  readonly endMs: number;
  readonly maxTicks: number;
  readonly zone: Zone;
}

export function timeTicks({ startMs, endMs, maxTicks, zone }: TimeAxis): TimeTick[] {
  const spanMs = endMs - startMs;
  const step = roundSteps.find((size) => spanMs / size <= maxTicks) ?? roundSteps.at(-1)!;
  const ticks: TimeTick[] = [];
  const startOffsetMs = offsetMs(startMs, zone);
  // Computed in local time, so that ticks stay round across daylight saving changes.
  let localMs = Math.ceil((startMs + startOffsetMs) / step) * step;
  for (; ticks.length <= maxTicks; localMs += step) {
    const guess = localMs - startOffsetMs;
    // Steps below an hour are round in UTC too, and cover the repeated hour twice.
    const ms = step <= hour ? guess : localMs - offsetMs(guess, zone);
    if (ms > endMs) break;
    if (ms >= startMs) ticks.push({ ms, label: labelOf(formatMs(ms, zone), step) });
  }
  return ticks;
}

function labelOf(text: string, step: number): string {
  if (step > 28 * day) return text.slice(0, 7);
  if (step >= day || (step >= minute && text.endsWith('00:00:00.000'))) return text.slice(5, 10);
  if (step >= minute) return text.slice(11, 16);
  return text.slice(11, step >= second ? 19 : 23);
}
