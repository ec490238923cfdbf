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
/** While a jump is not followed: runs may be shorter than an hour. */
const saveJumpEveryMs = 60_000;
/** Between the last time saved and a start, for more than a short stop. */
const stoppedMs = 86_400_000;

interface Clocks {
  /** Unix ms. */
  readonly wall: () => number;
  /** ms since any moment. */
  readonly monotonic: () => number;
}

const system: Clocks = { wall: Date.now, monotonic: () => performance.now() };

/** What the file keeps over restarts. */
interface Saved {
  /** Unix ms; NaN where none is known. */
  readonly timeMs: number;
  /** For how long, in all runs since, the wall clock has been ahead of it. */
  readonly aheadMs: number;
}

/**
 * Takes the wall clock as it is at this moment, unless it is a day ahead of the time in the file.
 * @param file keeps the time over restarts
 * @returns Unix ms, an integer
 */
export function openSteadyClock(file: string, { wall, monotonic }: Clocks = system): () => number {
  let saved = read(file);
  const hasJumped = wall() - saved.timeMs > stoppedMs;
  let originMs = (hasJumped ? saved.timeMs : wall()) - monotonic();
  let jumpedAtMs = hasJumped ? monotonic() - saved.aheadMs : undefined;
  return () => {
    const elapsedMs = monotonic();
    const currentMs = wall() - elapsedMs;
    jumpedAtMs = currentMs - originMs > toleranceMs ? (jumpedAtMs ?? elapsedMs) : undefined;
    let aheadMs = Math.round(elapsedMs - (jumpedAtMs ?? elapsedMs));
    if (jumpedAtMs === undefined || aheadMs >= lastingMs) {
      originMs = currentMs;
      jumpedAtMs = undefined;
      aheadMs = 0;
    }
    const timeMs = Math.round(originMs + elapsedMs);
    const isSaved =
      Math.abs(timeMs - saved.timeMs) < saveEveryMs &&
      Math.abs(aheadMs - saved.aheadMs) < saveJumpEveryMs;
    if (!isSaved) {
      saved = { timeMs, aheadMs };
      save(file, saved);
    }
    return timeMs;
  };
}

function read(file: string): Saved {
  try {
    const [time = '', aheadMs = '0'] = readFileSync(file, 'utf8').trim().split(' ');
    return { timeMs: Date.parse(time), aheadMs: Number(aheadMs) || 0 };
  } catch {
    return { timeMs: Number.NaN, aheadMs: 0 };
  }
}

function save(file: string, { timeMs, aheadMs }: Saved): void {
  const ahead = aheadMs === 0 ? '' : ` ${aheadMs}`;
  try {
    replaceTextFile(file, `${new Date(timeMs).toISOString()}${ahead}\n`);
  } catch {
    // A disk that is full or read-only is reported elsewhere. The next hour tries again.
  }
}
