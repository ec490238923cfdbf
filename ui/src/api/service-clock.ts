/**
 * The time of the service, from its responses: with a slow clock the browser would otherwise ask
 * for a range that ends before the newest logs. Kept per tab.
 */

const storageKey = 'weir.clock';
/** Smaller differences are within the header's precision and the latency. */
const minOffsetMs = 5_000;

let offsetMs = read();

/** Unix ms. */
export function serviceNowMs(): number {
  return Date.now() + offsetMs;
}

/** @param date the `Date` header of a response just received */
export function noteServiceTime(date: string | null): void {
  const offset = offsetBetween(date, Date.now());
  if (offset === undefined || offset === offsetMs) return;
  offsetMs = offset;
  sessionStorage.setItem(storageKey, String(offset));
}

/** How far the service is ahead; 0 below the precision. */
export function offsetBetween(date: string | null, nowMs: number): number | undefined {
  const serviceMs = Date.parse(date ?? '');
  if (Number.isNaN(serviceMs)) return undefined;
  const offset = serviceMs - nowMs;
  return Math.abs(offset) < minOffsetMs ? 0 : offset;
}

function read(): number {
  // Unit tests have no sessionStorage.
  if (typeof sessionStorage === 'undefined') return 0;
  const kept = Number(sessionStorage.getItem(storageKey));
  return Number.isFinite(kept) ? kept : 0;
}
