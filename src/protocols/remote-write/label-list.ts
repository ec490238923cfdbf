/** Reads `prometheus.Label` messages, of a series or an exemplar, once their bytes are found. */
import { isUtf8 } from 'node:buffer';
import { ProtobufWire } from '../../codec/protobuf-wire.ts';
import { type LabelLimits, toCanonicalLabels } from '../../codec/series-labels.ts';
import type { Label } from '../../model/metric-plan.ts';

const labelTag = { name: 0x0a, value: 0x12 } as const;
const firstUnknownTag = 3 << 3;
/** Of one UTF-16 unit in UTF-8. */
const maxBytesPerUnit = 3;
/** Tags and lengths around a label, and fields that nobody knows yet. */
const tagBytes = 64;
const maxDescribedLength = 200;
const plainName = /^[\w.:]+$/;

/** What is longer has a name or a value that is too long, and need not be read to know it. */
export function maxLabelSetBytes({
  maxLabels,
  maxLabelNameLength,
  maxLabelValueLength,
}: LabelLimits): number {
  return maxLabels * (maxBytesPerUnit * (maxLabelNameLength + maxLabelValueLength) + tagBytes);
}

/**
 * @param source holds the labels of a series as fields side by side
 * @returns the labels in canonical form, or why they name no series
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

/** Those labels for a human, as they were sent, on one line, cut off where they are long. */
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

/** @param end of the label that begins at the cursor. @returns undefined = it is not UTF-8 */
export function readLabel(wire: ProtobufWire, end: number): Label | undefined {
  let name: string | undefined = '';
  let value: string | undefined = '';
  while (wire.at < end) {
    const start = wire.at;
    const tag = wire.tag(end);
    if (tag === labelTag.name) name = readText(wire, end);
    else if (tag === labelTag.value) value = readText(wire, end);
    else {
      if (tag < firstUnknownTag) wire.failType(start, tag, 'a label');
      wire.skip(tag, end);
    }
  }
  return name === undefined || value === undefined ? undefined : [name, value];
}

/** A string whose length begins at the cursor. @returns undefined = it is not UTF-8 */
export function readText(wire: ProtobufWire, end: number): string | undefined {
  const textEnd = wire.lengthEnd(end);
  const start = wire.at;
  wire.at = textEnd;
  const text = wire.bytes.toString('utf8', start, textEnd);
  // What is not UTF-8 is read as U+FFFD, which may also have been sent as it is.
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
