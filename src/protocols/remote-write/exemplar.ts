/** Reads a `prometheus.Exemplar`: one measurement that stands for others, often with a trace. */
import type { Time } from '../../codec/metric-writer.ts';
import type { ProtobufWire } from '../../codec/protobuf-wire.ts';
import { encodeLabels, type LabelLimits, toSortedLabels } from '../../codec/series-labels.ts';
import type { Label } from '../../model/metric-plan.ts';
import { maxLabelSetBytes, readLabel } from './label-list.ts';

const fieldTag = { label: 0x0a, value: 0x11, timestamp: 0x18 } as const;
const firstUnknownTag = 4 << 3;
const zero = Buffer.alloc(8);

/** As the writer of rows wants it. */
export interface Exemplar {
  readonly time: Time;
  /** A double, little endian: a part of the body. */
  readonly value: Buffer;
  /** RowBinary `Map(String, String)`; may be empty. */
  readonly labels: Uint8Array;
}

/** @param end of the message that begins at the cursor. @returns the exemplar, or its fault */
export function readExemplar(
  wire: ProtobufWire,
  end: number,
  limits: LabelLimits,
): Exemplar | string {
  if (end - wire.at > maxLabelSetBytes(limits)) return 'label value too long';
  const labels: Label[] = [];
  let value: Buffer = zero;
  let time: Time = { low: 0, high: 0 };
  let fault = '';
  while (wire.at < end) {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === fieldTag.label) {
      const label = readLabel(wire, wire.lengthEnd(end));
      if (label === undefined) fault = 'label not in UTF-8';
      else if (labels.length === limits.maxLabels) fault = 'too many labels';
      else labels.push(label);
    } else if (tag === fieldTag.value) {
      const at = wire.pass(8, end);
      value = wire.bytes.subarray(at, at + 8);
    } else if (tag === fieldTag.timestamp) {
      wire.varint(end);
      time = { low: wire.low, high: wire.high };
    } else {
      if (tag < firstUnknownTag) wire.failType(start, tag, 'an exemplar');
      wire.skip(tag, end);
    }
  }
  if (fault !== '') return fault;
  const sorted = toSortedLabels(labels, limits);
  return typeof sorted === 'string' ? sorted : { time, value, labels: encodeLabels(sorted) };
}
