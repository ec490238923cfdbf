/**
 * The layout `metrics/1`: five sections, each inserted unchanged into its table. A section is empty
 * or RowBinary (https://clickhouse.com/docs/interfaces/formats/RowBinary) of the columns below.
 * Times are Unix ms as int64.
 */

/** Order of the sections in a payload. Their lengths precede them as UInt32 LE. */
export const metricSections = ['series', 'samples', 'histograms', 'exemplars', 'metadata'] as const;
export type MetricSection = (typeof metricSections)[number];

export const metricHeaderBytes = metricSections.length * 4;

/** Columns of each section. `samples` are three arrays, the others one array of tuples. */
export const metricSectionFields = {
  /**
   * Series whose labels may not be stored yet: id (`toSeries`), day of the sample (`toDay`), and
   * the sorted labels including `__name__`.
   */
  series: [
    ['id', 'UInt128'],
    ['day', 'UInt16'],
    ['labels', 'Map(String, String)'],
  ],
  /** The bits of values are kept: a NaN may be a staleness marker. */
  samples: [
    ['id', 'UInt128'],
    ['time', 'Int64'],
    ['value', 'Float64'],
  ],
  /** A native histogram as the bytes of a `prometheus.Histogram`. */
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
  /** Metadata of a metric family. Type in lower case as in text exposition. All may be empty. */
  metadata: [
    ['name', 'String'],
    ['type', 'String'],
    ['unit', 'String'],
    ['help', 'String'],
  ],
} as const satisfies Record<MetricSection, readonly (readonly [string, string])[]>;

export const dayMs = 86_400_000;
const lastDay = 0xffff;

/** Days since 1970, clamped to 1970 to 2149. */
export function toDay(unixMs: number): number {
  const day = Math.floor(unixMs / dayMs);
  return day < 0 ? 0 : Math.min(day, lastDay);
}

/** @returns the bytes of one section of a payload; may be empty */
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
