/** Times of the API as Unix ns: parses those of requests, formats ISO 8601 with ms. Pure. */
import { parseRequestTime } from '../codec/event-time.ts';

const nanosPerMilli = 1_000_000n;

/** @returns undefined for text in no form of a request's time */
export function parseTimestamp(text: string): bigint | undefined {
  const time = parseRequestTime(text);
  return time && BigInt(time.millis) * nanosPerMilli + BigInt(time.nanos);
}

export function toIsoMillis(nanos: bigint): string {
  return new Date(Number(nanos / nanosPerMilli)).toISOString();
}
