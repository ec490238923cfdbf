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
  /** Unix ms to which all of these runs were ahead at least; none = Infinity. */
  readonly aheadToMs: number;
}

/**
 * Takes the wall clock as it is at this moment, unless it is a day ahead of the time in the file.
 * @param file keeps the time over restarts
 * @returns Unix ms, an integer
 */
export function openSteadyClock(file: string, { wall, monotonic }: Clocks = system): () => number {
  let saved = read(file);
  const startMs = monotonic();
  const startWallMs = wall();
  const hasJumped = startWallMs - saved.timeMs > stoppedMs;
  let originMs = (hasJumped ? saved.timeMs : startWallMs) - startMs;
  // The first call may be much later, with another time.
  const aheadToMs = Math.min(saved.aheadToMs, startWallMs);
  let jump = hasJumped
    ? { atMs: startMs - saved.aheadMs, originMs: aheadToMs - startMs }
    : undefined;
  return () => {
    const elapsedMs = monotonic();
    const currentMs = wall() - elapsedMs;
    if (currentMs - originMs <= toleranceMs) {
      originMs = currentMs;
      jump = undefined;
    } else {
      jump ??= { atMs: elapsedMs, originMs: currentMs };
      // A jump within the hour, or between two runs, counts from then on.
      jump.originMs = Math.min(jump.originMs, currentMs);
      if (elapsedMs - jump.atMs >= lastingMs) {
        ({ originMs } = jump);
        jump = undefined;
      }
    }
    const timeMs = Math.round(originMs + elapsedMs);
    const aheadMs = Math.round(elapsedMs - (jump?.atMs ?? elapsedMs));
    const isSaved =
      Math.abs(timeMs - saved.timeMs) < saveEveryMs &&
      Math.abs(aheadMs - saved.aheadMs) < saveJumpEveryMs &&
      (aheadMs > 0 || saved.aheadMs === 0);
    if (!isSaved) {
      const aheadTo = Math.round((jump?.originMs ?? Number.POSITIVE_INFINITY) + elapsedMs);
      saved = { timeMs, aheadMs, aheadToMs: aheadTo };
      save(file, saved);
    }
    return timeMs;
  };
}

function read(file: string): Saved {
  try {
    const [time = '', ahead, aheadTo] = readFileSync(file, 'utf8').trim().split(' ');
    const aheadToMs = Number(aheadTo) || Number.POSITIVE_INFINITY;
    // An earlier version did not save how far.
    const aheadMs = aheadToMs === Number.POSITIVE_INFINITY ? 0 : Number(ahead) || 0;
    return { timeMs: Date.parse(time), aheadMs, aheadToMs };
  } catch {
    return { timeMs: Number.NaN, aheadMs: 0, aheadToMs: Number.POSITIVE_INFINITY };
  }
}

function save(file: string, { timeMs, aheadMs, aheadToMs }: Saved): void {
  const ahead = aheadMs === 0 ? '' : ` ${aheadMs} ${aheadToMs}`;
  try {
    replaceTextFile(file, `${new Date(timeMs).toISOString()}${ahead}\n`);
  } catch {
    // A disk that is full or read-only is reported elsewhere. The next hour tries again.
  }
}
