/**
 * Reads the small messages of a WriteRequest: labels, exemplars and metadata
 * (https://github.com/prometheus/prometheus/tree/main/prompb).
 */
import { type MetricType, metricTypes } from '../../model/metric-types.ts';
import { isUtf8 } from 'node:buffer';
import type { Time } from '../../codec/metric-writer.ts';
import type { Exemplar } from '../../codec/series-rows.ts';
import { ProtobufWire } from '../../codec/protobuf-wire.ts';
import {
  encodeLabels,
  type LabelLimits,
  toCanonicalLabels,
  toSortedLabels,
} from '../../codec/series-labels.ts';
import type { Label, MetricMetadata } from '../../model/metric-plan.ts';

const labelTag = { name: 0x0a, value: 0x12 } as const;
const firstUnknownLabelTag = 3 << 3;
/** UTF-8 bytes of one UTF-16 unit. */
const maxBytesPerUnit = 3;
/** Tags and lengths of a label, and room for unknown fields. */
const tagBytes = 64;
const maxDescribedLength = 200;
const plainName = /^[\w.:]+$/;

/** Longer label sets exceed a limit and are rejected without reading them. */
export function maxLabelSetBytes({
  maxLabels,
  maxLabelNameLength,
  maxLabelValueLength,
}: LabelLimits): number {
  return maxLabels * (maxBytesPerUnit * (maxLabelNameLength + maxLabelValueLength) + tagBytes);
}

/**
 * @param source the label fields of a series, back to back
 * @returns the labels in canonical form, or the reason to reject the series
 */
export function readSeriesLabels(
  source: Buffer,
  start: number,
  end: number,
  limits: LabelLimits,
): Label[] | string {
  const labels: Label[] = [];
  for (const label of eachLabel(source, start, end)) {
    if (label === undefined) return 'label not in UTF-8';
    labels.push(label);
  }
  return toCanonicalLabels(labels, limits);
}

/** The labels as sent for an error message: on one line, truncated. */
export function describeLabels(source: Buffer, start: number, end: number): string {
  let text = '';
  for (const label of eachLabel(source, start, end)) {
    const [name, value] = label ?? ['not UTF-8', ''];
    const shown = plainName.test(name) ? name : JSON.stringify(name);
    const valueStart = JSON.stringify(value.slice(0, maxDescribedLength));
    text += `${text === '' ? '' : ', '}${shown}=${valueStart}`;
    if (text.length > maxDescribedLength) return `{${text.slice(0, maxDescribedLength)}…}`;
  }
  return `{${text}}`;
}

/** Reads the label from the cursor to `end`. @returns undefined if it is not UTF-8 */
function readLabel(wire: ProtobufWire, end: number): Label | undefined {
  let name: string | undefined = '';
  let value: string | undefined = '';
  while (wire.at < end) {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === labelTag.name) name = readText(wire, end);
    else if (tag === labelTag.value) value = readText(wire, end);
    else {
      if (tag < firstUnknownLabelTag) wire.failType(start, tag, 'a label');
      wire.skip(tag, end);
    }
  }
  return name === undefined || value === undefined ? undefined : [name, value];
}

/** Reads a string, starting at its length. @returns undefined if it is not UTF-8 */
function readText(wire: ProtobufWire, end: number): string | undefined {
  const textEnd = wire.lengthEnd(end);
  const start = wire.at;
  wire.at = textEnd;
  const text = wire.bytes.toString('utf8', start, textEnd);
  // Invalid UTF-8 decodes to U+FFFD, but a sender may also have sent U+FFFD.
  if (!text.includes('\ufffd')) return text;
  return isUtf8(wire.bytes.subarray(start, textEnd)) ? text : undefined;
}

function* eachLabel(source: Buffer, start: number, end: number): Generator<Label | undefined> {
  const wire = new ProtobufWire(source);
  wire.at = start;
  while (wire.at < end) {
    wire.tag(end);
    yield readLabel(wire, wire.lengthEnd(end));
  }
}

const exemplarTag = { label: 0x0a, value: 0x11, timestamp: 0x18 } as const;
const firstUnknownExemplarTag = 4 << 3;
const zero = Buffer.alloc(8);

/** Reads the message from the cursor to `end`. @returns the exemplar, or the reason to reject it */
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
    if (tag === exemplarTag.label) {
      const label = readLabel(wire, wire.lengthEnd(end));
      if (label === undefined) fault = 'label not in UTF-8';
      else if (labels.length === limits.maxLabels) fault = 'too many labels';
      else labels.push(label);
    } else if (tag === exemplarTag.value) {
      const at = wire.pass(8, end);
      value = wire.bytes.subarray(at, at + 8);
    } else if (tag === exemplarTag.timestamp) {
      wire.varint(end);
      time = { low: wire.low, high: wire.high };
    } else {
      if (tag < firstUnknownExemplarTag) wire.failType(start, tag, 'an exemplar');
      wire.skip(tag, end);
    }
  }
  if (fault !== '') return fault;
  const sorted = toSortedLabels(labels, limits);
  return typeof sorted === 'string' ? sorted : { time, value, labels: encodeLabels(sorted) };
}

const metadataTag = { type: 0x08, name: 0x12, help: 0x22, unit: 0x2a } as const;
const firstUnknownMetadataTag = 6 << 3;
/** Field number that the message does not use. */
const unusedNumber = 3;
/** Reads the message from the cursor to `end`. @returns the metadata, or a warning */
export function readMetadata(
  wire: ProtobufWire,
  end: number,
  limits: LabelLimits,
): MetricMetadata | string {
  if (end - wire.at > maxLabelSetBytes(limits)) {
    wire.at = end;
    return 'metadata dropped: too long';
  }
  let type: MetricType = 'unknown';
  let name: string | undefined = '';
  let help: string | undefined = '';
  let unit: string | undefined = '';
  while (wire.at < end) {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === metadataTag.type) {
      type = metricTypes[wire.uint64(end)] ?? 'unknown';
    } else if (tag === metadataTag.name) name = readText(wire, end);
    else if (tag === metadataTag.help) help = readText(wire, end);
    else if (tag === metadataTag.unit) unit = readText(wire, end);
    else {
      if (tag < firstUnknownMetadataTag && tag >>> 3 !== unusedNumber) {
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
