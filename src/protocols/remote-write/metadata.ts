/** Reads a `prometheus.MetricMetadata`: what the metrics of a family are. */
import type { MetricMetadata } from '../../model/metric-plan.ts';
import type { ProtobufWire } from '../../codec/protobuf-wire.ts';
import type { LabelLimits } from '../../codec/series-labels.ts';
import { maxLabelSetBytes, readText } from './label-list.ts';

const fieldTag = { type: 0x08, name: 0x12, help: 0x22, unit: 0x2a } as const;
const firstUnknownTag = 6 << 3;
/** A number without a field, below those that have one. */
const unusedNumber = 3;
/** By their number; what has another is unknown. */
const types = [
  'unknown',
  'counter',
  'gauge',
  'histogram',
  'gaugehistogram',
  'summary',
  'info',
  'stateset',
] as const;

/** @param end of the message that begins at the cursor. @returns the metadata, or a warning */
export function readMetadata(
  wire: ProtobufWire,
  end: number,
  limits: LabelLimits,
): MetricMetadata | string {
  if (end - wire.at > maxLabelSetBytes(limits)) {
    wire.at = end;
    return 'metadata dropped: too long';
  }
  let type: string = types[0];
  let name: string | undefined = '';
  let help: string | undefined = '';
  let unit: string | undefined = '';
  while (wire.at < end) {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === fieldTag.type) {
      type = types[wire.uint64(end)] ?? types[0];
    } else if (tag === fieldTag.name) name = readText(wire, end);
    else if (tag === fieldTag.help) help = readText(wire, end);
    else if (tag === fieldTag.unit) unit = readText(wire, end);
    else {
      if (tag < firstUnknownTag && tag >>> 3 !== unusedNumber) {
        wire.failType(start, tag, 'metadata');
      }
      wire.skip(tag, end);
    }
  }
  if (name === undefined || help === undefined || unit === undefined) {
    return 'metadata dropped: not in UTF-8';
  }
  if (name === '') return 'metadata dropped: no metric name';
  const longest = Math.max(name.length, help.length, unit.length);
  if (longest > limits.maxLabelValueLength) return 'metadata dropped: too long';
  return { name, type, unit, help };
}
