/** Reads a `prometheus.MetricMetadata`: what the metrics of a family are. */
import type { MetricMetadata } from '../../model/metric-plan.ts';
import type { LabelLimits } from '../../model/series-labels.ts';
import { maxLabelSetBytes, readText } from './label-list.ts';
import type { WireReader } from './wire-reader.ts';

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

/** @param end of the message that begins at the reader. @returns the metadata, or a warning */
export function readMetadata(
  reader: WireReader,
  end: number,
  limits: LabelLimits,
): MetricMetadata | string {
  if (end - reader.at > maxLabelSetBytes(limits)) {
    reader.at = end;
    return 'metadata dropped: too long';
  }
  let type: string = types[0];
  let name: string | undefined = '';
  let help: string | undefined = '';
  let unit: string | undefined = '';
  while (reader.at < end) {
    const start = reader.at;
    const tag = reader.tag(end);
    if (tag === fieldTag.type) {
      reader.varint(end);
      type = types[reader.unsigned()] ?? types[0];
    } else if (tag === fieldTag.name) name = readText(reader, end);
    else if (tag === fieldTag.help) help = readText(reader, end);
    else if (tag === fieldTag.unit) unit = readText(reader, end);
    else {
      if (tag < firstUnknownTag && tag >>> 3 !== unusedNumber) {
        reader.fail(start, 'a field of metadata has the wrong type');
      }
      reader.skip(tag, end);
    }
  }
  if (name === undefined || help === undefined || unit === undefined) {
    return 'metadata dropped: not in UTF-8';
  }
  if (name === '') return 'metadata dropped: no metric name';
  const longest = Math.max(name.length, help.length, unit.length);
  if (longest > limits.maxValueLength) return 'metadata dropped: too long';
  return { name, type, unit, help };
}
