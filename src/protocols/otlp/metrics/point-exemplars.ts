/** Exemplars of data points, with the ids of trace and span as labels. */
import type { Time } from '../../../codec/metric-writer.ts';
import { type ProtobufWire, toTag, wireType } from '../../../codec/protobuf-wire.ts';
import { encodeLabels, type LabelLimits, toSortedLabels } from '../../../codec/series-labels.ts';
import type { Exemplar } from '../../../codec/series-rows.ts';
import type { Label } from '../../../model/metric-plan.ts';
import type { AttributeReader } from './attribute-reader.ts';
import { readInt64, readMillis, toTime } from './data-point.ts';

const tags = {
  time: toTag(2, wireType.fixed64),
  asDouble: toTag(3, wireType.fixed64),
  spanId: toTag(4, wireType.bytes),
  traceId: toTag(5, wireType.bytes),
  asInt: toTag(6, wireType.fixed64),
  attributes: toTag(7, wireType.bytes),
};
/** Of an exemplar's labels together, by OpenMetrics; beyond it only the ids are kept. */
const maxCharacters = 128;

export interface PointExemplar extends Exemplar {
  readonly number: number;
}

interface Reading {
  readonly attributes: AttributeReader;
  readonly limits: LabelLimits;
  /** Of the data point, for an exemplar without a time. */
  readonly pointTime: Time;
}

/** Reads the message from the cursor to `end`. @returns the exemplar, or why it is left out */
export function readExemplar(
  wire: ProtobufWire,
  end: number,
  { attributes, limits, pointTime }: Reading,
): PointExemplar | string {
  let timeMs = 0;
  let number: number | undefined;
  const fields: Label[] = [];
  while (wire.at < end) {
    const tag = wire.tag(end);
    if (tag === tags.time) timeMs = readMillis(wire, end);
    else if (tag === tags.asDouble) number = wire.double(end);
    else if (tag === tags.asInt) number = readInt64(wire, end);
    else if (tag === tags.spanId) fields.push(['span_id', readHex(wire, end)]);
    else if (tag === tags.traceId) fields.push(['trace_id', readHex(wire, end)]);
    else if (tag === tags.attributes) attributes.add(end);
    else wire.skip(tag, end);
  }
  const others = attributes.take();
  if (number === undefined) return 'no value';
  const ids = fields.filter(([, id]) => !/^0*$/.test(id));
  const all = [...ids, ...others];
  const characters = all.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  const labels = toSortedLabels(characters <= maxCharacters ? all : ids, limits);
  if (typeof labels === 'string') return labels;
  const value = Buffer.alloc(8);
  value.writeDoubleLE(number);
  const time = timeMs === 0 ? pointTime : toTime(timeMs);
  return { number, time, value, labels: encodeLabels(labels) };
}

function readHex(wire: ProtobufWire, end: number): string {
  const idEnd = wire.lengthEnd(end);
  const hex = wire.bytes.toString('hex', wire.at, idEnd);
  wire.at = idEnd;
  return hex;
}
