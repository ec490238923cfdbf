/**
 * The messages of remote_write v1 and remote_read
 * (https://github.com/prometheus/prometheus/tree/main/prompb), independent of Weir's code. Doubles
 * are kept as bits: a NaN may be a stale marker.
 */
import { bytesField, doubleField, messagesOf, numberOf, text, varintField } from './proto-wire.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** Unix ms. */
  readonly timeMs: bigint;
  /** The bits of the double. */
  readonly bits: bigint;
}

export interface SeriesSamples {
  readonly labels: Labels;
  readonly samples: readonly Sample[];
  /** Encoded `prometheus.Histogram` messages. */
  readonly histograms: readonly Buffer[];
}

export interface WireExemplar extends Sample {
  readonly labels: Labels;
}

export interface WrittenSeries {
  /** Sent in this order. */
  readonly labels: Labels;
  readonly samples?: readonly Sample[];
  readonly exemplars?: readonly WireExemplar[];
  readonly histograms?: readonly Buffer[];
}

export interface Metadata {
  /** `MetricMetadata.MetricType`: 1 = counter, 2 = gauge. */
  readonly type: number;
  readonly name: string;
  readonly help: string;
  readonly unit: string;
}

export const matcherTypes = { '=': 0, '!=': 1, '=~': 2, '!~': 3 } as const;

export interface Matcher {
  readonly name: string;
  readonly type: keyof typeof matcherTypes;
  readonly value: string;
}

export interface ReadQuery {
  readonly matchers: readonly Matcher[];
  /** Unix ms, inclusive. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export function toSample(timeMs: number, value: number): Sample {
  return { timeMs: BigInt(timeMs), bits: toBits(value) };
}

export function toBits(value: number): bigint {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes.readBigUInt64LE();
}

export function toNumber(bits: bigint): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bytes.readDoubleLE();
}

/** `prometheus.WriteRequest`, without snappy. */
export function encodeWriteRequest(
  series: readonly WrittenSeries[],
  metadata: readonly Metadata[] = [],
): Buffer {
  return Buffer.concat([
    ...series.map((one) => bytesField(1, encodeSeries(one))),
    ...metadata.map(({ type, name, help, unit }) =>
      bytesField(
        3,
        Buffer.concat([varintField(1, BigInt(type)), text(2, name), text(4, help), text(5, unit)]),
      ),
    ),
  ]);
}

/** `prometheus.ReadRequest`, without snappy; response type SAMPLES. */
export function encodeReadRequest(queries: readonly ReadQuery[]): Buffer {
  return Buffer.concat(
    queries.map(({ matchers, fromMs, untilMs }) =>
      bytesField(
        1,
        Buffer.concat([
          varintField(1, BigInt(fromMs)),
          varintField(2, BigInt(untilMs)),
          ...matchers.map(({ type, name, value }) =>
            bytesField(
              3,
              Buffer.concat([
                varintField(1, BigInt(matcherTypes[type])),
                text(2, name),
                text(3, value),
              ]),
            ),
          ),
        ]),
      ),
    ),
  );
}

/** `prometheus.ReadResponse`, without snappy: one list of series per query. */
export function decodeReadResponse(bytes: Buffer): SeriesSamples[][] {
  return messagesOf(bytes, 1).map((result) => messagesOf(result, 1).map(decodeSeries));
}

function encodeSeries({ labels, samples = [], exemplars = [], histograms = [] }: WrittenSeries) {
  return Buffer.concat([
    ...encodeLabels(labels),
    ...samples.map(({ bits, timeMs }) =>
      bytesField(2, Buffer.concat([doubleField(1, bits), varintField(2, timeMs)])),
    ),
    ...exemplars.map((exemplar) =>
      bytesField(
        3,
        Buffer.concat([
          ...encodeLabels(exemplar.labels),
          doubleField(2, exemplar.bits),
          varintField(3, exemplar.timeMs),
        ]),
      ),
    ),
    ...histograms.map((histogram) => bytesField(4, histogram)),
  ]);
}

function encodeLabels(labels: Labels): Buffer[] {
  return Object.entries(labels).map(([name, value]) =>
    bytesField(1, Buffer.concat([text(1, name), text(2, value)])),
  );
}

function decodeSeries(bytes: Buffer): SeriesSamples {
  const labels = messagesOf(bytes, 1).map((label) => {
    const [name = '', value = ''] = [1, 2].map((field) => messagesOf(label, field)[0]?.toString());
    return [name, value] as const;
  });
  const samples = messagesOf(bytes, 2).map((sample) => ({
    bits: numberOf(sample, 1),
    timeMs: BigInt.asIntN(64, numberOf(sample, 2)),
  }));
  return { labels: Object.fromEntries(labels), samples, histograms: messagesOf(bytes, 4) };
}
