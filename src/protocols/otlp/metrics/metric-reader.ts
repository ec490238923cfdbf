/** Reads what the data points of one metric have in common. */
import { type ProtobufWire, toTag, wireType } from '../../../codec/protobuf-wire.ts';
import type { AttributeReader } from './attribute-reader.ts';
import type { PointKind } from './data-point.ts';
import type { NamedType } from './metric-names.ts';

const { bytes, varint } = wireType;
const textTags = { name: toTag(1, bytes), description: toTag(2, bytes), unit: toTag(3, bytes) };
const kinds: ReadonlyMap<number, PointKind> = new Map([
  [toTag(5, bytes), 'gauge'],
  [toTag(7, bytes), 'sum'],
  [toTag(9, bytes), 'histogram'],
  [toTag(10, bytes), 'exponential'],
  [toTag(11, bytes), 'summary'],
]);
const temporalityTag = toTag(2, varint);
const monotonicTag = toTag(3, varint);
const temporality = { delta: 1, cumulative: 2 } as const;

/** Changes to accepted metrics, counted by a fixed text. */
export const metricWarnings = {
  empty: 'metric without data of a known kind, left out',
  noTime: 'data point without a time, stored at the time of receipt',
  longMetadata: 'metadata too long, left out',
} as const;

export interface Metric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly kind: PointKind;
  /** For the name. */
  readonly namedAs: NamedType;
  /** Of Prometheus' metadata. */
  readonly type: string;
  readonly isDelta: boolean;
  /** False for sums and histograms that do not say over which time they add up. */
  readonly hasTemporality: boolean;
  readonly isMonotonic: boolean;
  /** Range of the message with the data points. */
  readonly dataStart: number;
  readonly dataEnd: number;
}

/** @returns undefined for a metric without data of a known kind */
export function readMetric(
  wire: ProtobufWire,
  texts: Pick<AttributeReader, 'text'>,
  end: number,
): Metric | undefined {
  let [name, description, unit] = ['', '', ''];
  let kind: PointKind | undefined;
  let [dataStart, dataEnd] = [0, 0];
  while (wire.at < end) {
    const tag = wire.tag(end);
    const own = kinds.get(tag);
    if (own !== undefined) {
      kind = own;
      dataEnd = wire.lengthEnd(end);
      dataStart = wire.at;
      wire.at = dataEnd;
    } else if (tag === textTags.name) name = texts.text(end);
    else if (tag === textTags.description) description = texts.text(end);
    else if (tag === textTags.unit) unit = texts.text(end);
    else wire.skip(tag, end);
  }
  if (kind === undefined) return undefined;
  wire.at = dataStart;
  const data = readAggregation(wire, dataEnd);
  const isAggregated = kind !== 'gauge' && kind !== 'summary';
  const isCounter = kind === 'sum' && data.isMonotonic;
  return {
    name,
    description,
    unit,
    kind,
    namedAs: isCounter ? 'counter' : kind === 'gauge' ? 'gauge' : 'other',
    type: toType(kind, isCounter),
    isDelta: isAggregated && data.temporality === temporality.delta,
    hasTemporality:
      !isAggregated ||
      data.temporality === temporality.delta ||
      data.temporality === temporality.cumulative,
    isMonotonic: kind === 'sum' ? data.isMonotonic : true,
    dataStart,
    dataEnd,
  };
}

function readAggregation(
  wire: ProtobufWire,
  end: number,
): { readonly temporality: number; readonly isMonotonic: boolean } {
  let [sent, isMonotonic] = [0, false];
  while (wire.at < end) {
    const tag = wire.tag(end);
    if (tag === temporalityTag) sent = wire.uint32(end);
    else if (tag === monotonicTag) isMonotonic = wire.uint32(end) !== 0;
    else wire.skip(tag, end);
  }
  return { temporality: sent, isMonotonic };
}

function toType(kind: PointKind, isCounter: boolean): string {
  if (kind === 'sum') return isCounter ? 'counter' : 'gauge';
  return kind === 'exponential' ? 'histogram' : kind;
}
