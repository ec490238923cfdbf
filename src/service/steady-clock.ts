/**
 * A wall clock for what cannot be undone, such as the deletion of old data. A jump ahead, as by a
 * wrong time server, is followed only once it has lasted; after a jump back it follows at once.
 */
import { readFileSync } from 'node:fs';
import { replaceTextFile } from '../files/atomic-file.ts';

/** More than clocks are slewed between two calls. */
const toleranceMs = 60_000;
/** A machine that was suspended looks the same. */
const lastingMs = 3_600_000;
const saveEveryMs = 3_600_000;
/** Between the last time saved and a start, for more than a short stop. */
const stoppedMs = 86_400_000;

interface Clocks {
  /** Unix ms. */
  readonly wall: () => number;
  /** ms since any moment. */
  readonly monotonic: () => number;
}

const system: Clocks = { wall: Date.now, monotonic: () => performance.now() };

/**
 * Takes the wall clock as it is at this moment, unless it is a day ahead of the time in the file.
 * @param file keeps the time over restarts
 * @returns Unix ms, an integer
 */
export function openSteadyClock(file: string, { wall, monotonic }: Clocks = system): () => number {
  let savedMs = readTime(file);
  const hasJumped = wall() - savedMs > stoppedMs;
  let originMs = (hasJumped ? savedMs : wall()) - monotonic();
  let jumpedAtMs = hasJumped ? monotonic() : undefined;
  return () => {
    const elapsedMs = monotonic();
    const currentMs = wall() - elapsedMs;
    const isAhead = currentMs - originMs > toleranceMs;
    if (isAhead) jumpedAtMs ??= elapsedMs;
    else jumpedAtMs = undefined;
    if (jumpedAtMs === undefined || elapsedMs - jumpedAtMs >= lastingMs) originMs = currentMs;
    const nowMs = Math.round(originMs + elapsedMs);
    if (!(Math.abs(nowMs - savedMs) < saveEveryMs)) {
      savedMs = nowMs;
      saveTime(file, nowMs);
    }
    return nowMs;
  };
}

/** @returns NaN where none is known */
function readTime(file: string): number {
  try {
    return Date.parse(readFileSync(file, 'utf8').trim());
  } catch {
    return Number.NaN;
  }
}

function saveTime(file: string, nowMs: number): void {
  try {
    replaceTextFile(file, `${new Date(nowMs).toISOString()}\n`);
  } catch {
    // A disk that is full or read-only is reported elsewhere. The next hour tries again.
  }
}
