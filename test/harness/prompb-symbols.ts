/**
 * `io.prometheus.write.v2.Request` (https://prometheus.io/docs/specs/prw/remote_write_spec_2_0),
 * independent of Weir's code.
 */
import type { Labels, Metadata, WrittenSeries } from './prompb.ts';
import { bytesField, doubleField, varint, varintField } from './proto-wire.ts';

export interface WrittenSeriesV2 extends WrittenSeries {
  readonly metadata?: Omit<Metadata, 'name'>;
  /** Unix ms. */
  readonly createdMs?: bigint;
}

/** Without snappy. */
export function encodeWriteRequestV2(series: readonly WrittenSeriesV2[]): Buffer {
  const symbols = new Map([['', 0]]);
  const symbolOf = (text: string): number => {
    const known = symbols.get(text) ?? symbols.size;
    symbols.set(text, known);
    return known;
  };
  const references = (labels: Labels) =>
    Buffer.concat(
      Object.entries(labels)
        .flat()
        .map((text) => varint(BigInt(symbolOf(text)))),
    );
  const encoded = series.map((one) => bytesField(5, encodeSeries(one, references, symbolOf)));
  const texts = [...symbols.keys()].map((text) => bytesField(4, Buffer.from(text)));
  return Buffer.concat([...texts, ...encoded]);
}

function encodeSeries(
  { labels, samples = [], exemplars = [], histograms = [], metadata, createdMs }: WrittenSeriesV2,
  references: (labels: Labels) => Buffer,
  symbolOf: (text: string) => number,
): Buffer {
  return Buffer.concat([
    bytesField(1, references(labels)),
    ...samples.map(({ bits, timeMs }) =>
      bytesField(2, Buffer.concat([doubleField(1, bits), varintField(2, timeMs)])),
    ),
    ...histograms.map((histogram) => bytesField(3, histogram)),
    ...exemplars.map((exemplar) =>
      bytesField(
        4,
        Buffer.concat([
          bytesField(1, references(exemplar.labels)),
          doubleField(2, exemplar.bits),
          varintField(3, exemplar.timeMs),
        ]),
      ),
    ),
    ...(metadata === undefined
      ? []
      : [
          bytesField(
            5,
            Buffer.concat([
              varintField(1, BigInt(metadata.type)),
              varintField(3, BigInt(symbolOf(metadata.help))),
              varintField(4, BigInt(symbolOf(metadata.unit))),
            ]),
          ),
        ]),
    varintField(6, createdMs ?? 0n),
  ]);
}
