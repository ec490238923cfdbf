/**
 * Times as Prometheus' API takes them. https://prometheus.io/docs/prometheus/latest/querying/api
 * Pure.
 */
import { parseRfc3339 } from '../codec/event-time.ts';

const lowest = -(2n ** 63n);
const highest = 2n ** 63n - 1n;

/** What Prometheus' own client sends for "all time", far beyond what else can be read. */
const bounds: Readonly<Record<string, bigint>> = {
  '-292273086-05-16T16:47:06Z': lowest,
  '292277025-08-18T07:12:54.999999999Z': highest,
};
const seconds = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Unix seconds with any fraction, or RFC 3339 from 1970 to 2149 (a `+` that a query string turned
 * into a space is taken back).
 * @returns Unix ms within Int64; undefined for any other text.
 */
export function parseMetricTime(text: string): bigint | undefined {
  if (Object.hasOwn(bounds, text)) return bounds[text];
  if (seconds.test(text)) return toMillis(Number(text));
  const bytes = Buffer.from(text.replace(/ (\d\d:\d\d)$/, '+$1'), 'latin1');
  const time = parseRfc3339(bytes, 0, bytes.length);
  return time && BigInt(time.millis);
}

function toMillis(unixSeconds: number): bigint {
  const millis = Math.round(unixSeconds * 1000);
  if (millis >= Number(highest)) return highest;
  return millis <= Number(lowest) ? lowest : BigInt(millis);
}
