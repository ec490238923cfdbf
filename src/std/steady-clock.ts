/**
 * A wall clock for what cannot be undone, such as the deletion of old data. A jump ahead, as by a
 * wrong time server, is followed only once it has lasted; after a jump back it follows at once.
 */

/** More than clocks are slewed between two calls. */
const toleranceMs = 60_000;
/** A machine that was suspended looks the same. */
const lastingMs = 3_600_000;

/**
 * Takes the wall clock as it is at this moment.
 * @param wall Unix ms @param monotonic ms since any moment
 * @returns Unix ms, an integer
 */
export function createSteadyClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  let originMs = wall() - monotonic();
  let jumpedAtMs: number | undefined;
  return () => {
    const elapsedMs = monotonic();
    const currentMs = wall() - elapsedMs;
    const isAhead = currentMs - originMs > toleranceMs;
    if (isAhead) jumpedAtMs ??= elapsedMs;
    else jumpedAtMs = undefined;
    if (jumpedAtMs === undefined || elapsedMs - jumpedAtMs >= lastingMs) originMs = currentMs;
    return Math.round(originMs + elapsedMs);
  };
}
