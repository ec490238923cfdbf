/**
 * What time it is for the service: a browser whose clock runs behind would otherwise look past the
 * newest logs without a word. Learned from the answers, and kept for the tab.
 */

const storageKey = 'weir.clock';
/** Less is the precision of the header and the way of the answer. */
const minOffsetMs = 5_000;

let offsetMs = read();

/** Unix ms. */
export function serviceNowMs(): number {
  return Date.now() + offsetMs;
}

/** @param date the header `Date` of an answer that came just now */
export function noteServiceTime(date: string | null): void {
  const offset = offsetBetween(date, Date.now());
  if (offset === undefined || offset === offsetMs) return;
  offsetMs = offset;
  sessionStorage.setItem(storageKey, String(offset));
}

/** By how much the service is ahead; 0 where that cannot be told from none. */
export function offsetBetween(date: string | null, nowMs: number): number | undefined {
  const serviceMs = Date.parse(date ?? '');
  if (Number.isNaN(serviceMs)) return undefined;
  const offset = serviceMs - nowMs;
  return Math.abs(offset) < minOffsetMs ? 0 : offset;
}

function read(): number {
  // Tests of what is pure have no tab to keep things in.
  if (typeof sessionStorage === 'undefined') return 0;
  const kept = Number(sessionStorage.getItem(storageKey));
  return Number.isFinite(kept) ? kept : 0;
}
