/** Times of the API: parses RFC 3339 or epoch ms, formats ISO 8601 with ms. Pure. */
import { parseRfc3339 } from '../codec/event-time.ts';
import { maxEventTimeMillis } from '../model/log-id.ts';

const nanosPerMilli = 1_000_000n;

/**
 * RFC 3339 with up to nine fraction digits, where a space that a query string made of `+` is
 * accepted, or epoch milliseconds in digits.
 * @returns Unix ns; undefined for any other text, and for times outside 1970 to 2149.
 */
export function parseTimestamp(text: string): bigint | undefined {
  if (/^\d{1,16}$/.test(text)) {
    const millis = Number(text);
    return millis < maxEventTimeMillis ? BigInt(millis) * nanosPerMilli : undefined;
  }
  const bytes = Buffer.from(text.replace(/ (\d\d:\d\d)$/, '+$1'), 'latin1');
  const time = parseRfc3339(bytes, 0, bytes.length);
  return time && BigInt(time.millis) * nanosPerMilli + BigInt(time.nanos);
}

export function toIsoMillis(nanos: bigint): string {
  return new Date(Number(nanos / nanosPerMilli)).toISOString();
}
