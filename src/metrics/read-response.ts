/**
 * The message `prometheus.ReadResponse` of remote read, with samples (in Prometheus' source,
 * prompb/remote.proto and types.proto). Values are copied as bits. Pure.
 */

import { bytesFieldLength, ProtobufWriter, varintLength } from '../codec/protobuf-writer.ts';
import type { Label, SeriesSamples } from '../model/metric-plan.ts';

/** Samples between two yields, about a millisecond of work. */
const samplesPerTurn = 20_000;

/**
 * Yields regularly, so that the caller can let other requests run.
 * @param results the series of each query, in the order of the queries.
 */
export function* encodeReadResponse(
  results: readonly (readonly SeriesSamples[])[],
): Generator<void, Uint8Array, undefined> {
  const sizes: SeriesSizes[][] = [];
  for (const result of results) sizes.push(yield* measureResult(result));
  const resultBytes = sizes.map((ofResult) =>
    ofResult.reduce((sum, { total }) => sum + bytesFieldLength(total), 0),
  );
  const writer = new ProtobufWriter(
    resultBytes.reduce((sum, bytes) => sum + bytesFieldLength(bytes), 0),
  );
  for (const [index, result] of results.entries()) {
    writer.header(1, resultBytes[index]!);
    yield* writeResult(writer, result, sizes[index]!);
  }
  return writer.finish();
}

/** Bytes of messages, without the headers in front of them. */
interface SeriesSizes {
  readonly total: number;
  readonly labels: readonly number[];
}

function* measureResult(result: readonly SeriesSamples[]): Generator<void, SeriesSizes[]> {
  const sizes: SeriesSizes[] = [];
  let sinceTurn = 0;
  for (const { labels, times, histograms } of result) {
    const ofLabels = labels.map(labelBytes);
    let total = ofLabels.reduce((sum, bytes) => sum + bytesFieldLength(bytes), 0);
    const words = toWords(times);
    for (let i = 0; i < words.length; i += 2) {
      total += bytesFieldLength(sampleBytes(words[i]!, words[i + 1]!));
    }
    for (const { message } of histograms) total += bytesFieldLength(message.length);
    sizes.push({ total, labels: ofLabels });
    sinceTurn += times.length;
    if (sinceTurn < samplesPerTurn) continue;
    sinceTurn = 0;
    yield;
  }
  return sizes;
}

function* writeResult(
  writer: ProtobufWriter,
  result: readonly SeriesSamples[],
  sizes: readonly SeriesSizes[],
): Generator<void, void> {
  let sinceTurn = 0;
  for (const [index, series] of result.entries()) {
    yield* writeSeries(writer, series, sizes[index]!);
    sinceTurn += series.times.length;
    if (sinceTurn < samplesPerTurn) continue;
    sinceTurn = 0;
    yield;
  }
}

function* writeSeries(
  writer: ProtobufWriter,
  { labels, times, values, histograms }: SeriesSamples,
  sizes: SeriesSizes,
): Generator<void, void> {
  writer.header(1, sizes.total);
  for (const [index, [name, value]] of labels.entries()) {
    writer.header(1, sizes.labels[index]!);
    writer.text(1, name);
    writer.text(2, value);
  }
  const timeWords = toWords(times);
  const valueWords = toWords(values);
  for (let i = 0; i < timeWords.length; i += 2) {
    const low = timeWords[i]!;
    const high = timeWords[i + 1]!;
    writer.header(2, sampleBytes(low, high));
    writer.fixed64(1, valueWords[i]!, valueWords[i + 1]!);
    writer.varint(2, low, high);
    if (i % (2 * samplesPerTurn) === 2 * samplesPerTurn - 2) yield;
  }
  for (const { message } of histograms) writer.bytes(4, message);
}

function labelBytes([name, value]: Label): number {
  return bytesFieldLength(Buffer.byteLength(name)) + bytesFieldLength(Buffer.byteLength(value));
}

/** A double in 9 bytes and a time, each with its tag. */
function sampleBytes(timeLow: number, timeHigh: number): number {
  return 10 + varintLength(timeLow, timeHigh);
}

/** Pairs of low and high words: a bigint for each sample would dominate the cost. */
function toWords(values: BigInt64Array | BigUint64Array): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
}
