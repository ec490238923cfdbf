/**
 * Encodes and decodes Prometheus remote read (version 1, sampled response):
 * https://prometheus.io/docs/prometheus/latest/querying/remote_read_api/.
 */
import { PbfReader, PbfWriter } from 'pbf';
import snappy from 'snappyjs';

export type Labels = Readonly<Record<string, string>>;

export interface SampleQuery {
  /** All must be equal. */
  readonly labels: Labels;
  /** Unix ms, inclusive. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface SampledSeries {
  readonly labels: Labels;
  /** Unix ms, ascending. */
  readonly times: readonly number[];
  /** Same length; NaN may be a value or a stale marker. */
  readonly values: readonly number[];
}

const equal = 0;
/** Larger responses are refused. */
const maxAnswerBytes = 256 * 1024 * 1024;

/** Encodes `prometheus.ReadRequest`, compressed with snappy. */
export function encodeReadRequest(queries: readonly SampleQuery[]): Uint8Array<ArrayBuffer> {
  const request = new PbfWriter();
  for (const query of queries) {
    request.writeMessage(1, writeQuery, query);
  }
  return Uint8Array.from(snappy.compress(request.finish()));
}

/** One list of series per query, in order. @throws RangeError, Error for an invalid response */
export function decodeReadResponse(packed: Uint8Array): SampledSeries[][] {
  const message = snappy.uncompress(packed, maxAnswerBytes);
  const results: SampledSeries[][] = [];
  new PbfReader(message).readFields((tag, all, reader) => {
    if (tag === 1) all.push(reader.readMessage(readSeries, [] as SampledSeries[]));
  }, results);
  return results;
}

function writeQuery({ labels, fromMs, untilMs }: SampleQuery, writer: PbfWriter): void {
  writer.writeVarintField(1, fromMs);
  writer.writeVarintField(2, untilMs);
  for (const [name, value] of Object.entries(labels)) {
    writer.writeMessage(3, writeMatcher, { name, value });
  }
}

function writeMatcher(matcher: { name: string; value: string }, writer: PbfWriter): void {
  writer.writeVarintField(1, equal);
  writer.writeStringField(2, matcher.name);
  writer.writeStringField(3, matcher.value);
}

function readSeries(tag: number, all: SampledSeries[], reader: PbfReader): void {
  if (tag !== 1) return;
  const series = {
    labels: [] as [string, string][],
    times: [] as number[],
    values: [] as number[],
  };
  reader.readMessage(readSeriesField, series);
  all.push({ ...series, labels: Object.fromEntries(series.labels) });
}

interface OpenSeries {
  readonly labels: [string, string][];
  readonly times: number[];
  readonly values: number[];
}

function readSeriesField(tag: number, series: OpenSeries, reader: PbfReader): void {
  if (tag === 1) series.labels.push(reader.readMessage(readLabelField, ['', '']));
  if (tag === 2) {
    const sample = reader.readMessage(readSampleField, { timeMs: 0, value: 0 });
    series.times.push(sample.timeMs);
    series.values.push(sample.value);
  }
}

function readLabelField(tag: number, label: [string, string], reader: PbfReader): void {
  if (tag === 1 || tag === 2) label[tag - 1] = reader.readString();
}

function readSampleField(
  tag: number,
  sample: { timeMs: number; value: number },
  reader: PbfReader,
): void {
  if (tag === 1) sample.value = reader.readDouble();
  if (tag === 2) sample.timeMs = reader.readVarint(true);
}

/** Independent of label order. */
export function seriesKey(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Names of labels whose values differ between these series. */
export function varyingLabels(series: readonly Labels[]): ReadonlySet<string> {
  const first = series[0] ?? {};
  const names = new Set(series.flatMap((labels) => Object.keys(labels)));
  names.delete('__name__');
  if (series.length < 2) return names;
  return new Set(
    [...names].filter((name) => series.some((labels) => labels[name] !== first[name])),
  );
}
