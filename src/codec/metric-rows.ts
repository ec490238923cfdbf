/**
 * The layout `metrics/1`: what one request brought of samples, and of whatever belongs to them, as
 * five sections, so that each goes into its table as it is. A section is a header's worth of
 * nothing, or RowBinary (https://clickhouse.com/docs/interfaces/formats/RowBinary) of the columns
 * named here. Times are Unix ms and exact, whatever their sender meant by them.
 */

/** In the order in which they stand in a payload, after as many UInt32 LE with their lengths. */
export const metricSections = ['series', 'samples', 'histograms', 'exemplars', 'metadata'] as const;
export type MetricSection = (typeof metricSections)[number];

export const metricHeaderBytes = metricSections.length * 4;

/**
 * Columns of each section. `samples` are three arrays of one length side by side, the others one
 * array of tuples.
 */
export const metricSectionFields = {
  /**
   * Series whose labels are not known to be stored yet: id of the sorted labels (`toSeriesId`),
   * day of the sample that brought it (`toDay`), and the labels, sorted, `__name__` among them.
   */
  series: [
    ['id', 'UInt128'],
    ['day', 'UInt16'],
    ['labels', 'Map(String, String)'],
  ],
  /** Values bit by bit: a NaN may mean that a series has ended. */
  samples: [
    ['id', 'UInt128'],
    ['time', 'Int64'],
    ['value', 'Float64'],
  ],
  /** A native histogram as the message `prometheus.Histogram`, byte by byte. */
  histograms: [
    ['id', 'UInt128'],
    ['time', 'Int64'],
    ['histogram', 'String'],
  ],
  exemplars: [
    ['id', 'UInt128'],
    ['time', 'Int64'],
    ['value', 'Float64'],
    ['labels', 'Map(String, String)'],
  ],
  /** Of a metric family. Type in lower case as in text exposition; may be empty like the others. */
  metadata: [
    ['name', 'String'],
    ['type', 'String'],
    ['unit', 'String'],
    ['help', 'String'],
  ],
} as const satisfies Record<MetricSection, readonly (readonly [string, string])[]>;

const dayMs = 86_400_000;
const lastDay = 0xffff;

/** Days since 1970; what lies outside 1970 to 2149 counts as the first or the last of them. */
export function toDay(unixMs: number): number {
  const day = Math.floor(unixMs / dayMs);
  return day < 0 ? 0 : Math.min(day, lastDay);
}

/** @returns the bytes of one section of a payload; empty where there is none. */
export function sectionOf(payload: Uint8Array, section: MetricSection): Uint8Array {
  const header = new DataView(payload.buffer, payload.byteOffset, metricHeaderBytes);
  let start = metricHeaderBytes;
  for (const [index, name] of metricSections.entries()) {
    const length = header.getUint32(index * 4, true);
    if (name === section) return payload.subarray(start, start + length);
    start += length;
  }
  return payload.subarray(0, 0);
}
