/** A push request of Loki in protobuf (logproto.PushRequest): fills slots with its entries. */
import { ProtobufWire, toTag, wireType } from '../../../codec/protobuf-wire.ts';
import { AppError } from '../../../model/errors.ts';
import { maxLabelBytes, tooManyEvents, tooManyLabelBytes } from '../event-batch.ts';
import { field } from '../event-fields.ts';
import type { TextRange } from '../text-slots.ts';
import type { EntrySlots } from './loki-entry.ts';

const tag = {
  stream: toTag(1, wireType.bytes),
  labels: toTag(1, wireType.bytes),
  entry: toTag(2, wireType.bytes),
  time: toTag(1, wireType.bytes),
  line: toTag(2, wireType.bytes),
  metadata: toTag(3, wireType.bytes),
  name: toTag(1, wireType.bytes),
  value: toTag(2, wireType.bytes),
  seconds: toTag(1, wireType.varint),
  nanos: toTag(2, wireType.varint),
};
const label = /\s*([^\s=,{}"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)\s*(?:,|$)/y;

/** More than the digits of an int64, in ns. */
const timeBytes = 40;
/** Of labels in JSON, by the bytes of their text: an escape has six for one. */
const jsonFactor = 6;
const emptyObjectBytes = 2;

interface ProtobufStream {
  /** Of its message. */
  readonly start: number;
  readonly end: number;
  /** Their text; empty without any. */
  readonly labels: TextRange;
}

/** A request, and behind it the labels and the time of the entry that is being read. */
export interface PushRequest {
  readonly bytes: Buffer;
  readonly streams: readonly ProtobufStream[];
  /** Position of the labels. */
  readonly labelsAt: number;
}

/**
 * Labels may follow the entries of their stream.
 * @throws AppError `malformed`, or `too_large` for more than `maxEvents` streams with entries
 */
export function openPushRequest(body: Buffer, maxEvents: number): PushRequest {
  const wire = new ProtobufWire(body);
  const streams: ProtobufStream[] = [];
  let longest = 0;
  while (wire.at < body.length) {
    const read = wire.tag(body.length);
    if (read !== tag.stream) {
      wire.skip(read, body.length);
      continue;
    }
    const end = wire.lengthEnd(body.length);
    const start = wire.at;
    const found = findLabels(wire, end);
    if (found === undefined) continue;
    if (streams.length >= maxEvents) throw tooManyEvents(maxEvents);
    streams.push({ start, end, labels: found });
    longest = Math.max(longest, found.end - found.start);
  }
  if (longest > jsonFactor * maxLabelBytes) throw tooManyLabelBytes();
  const addedBytes = jsonFactor * longest + emptyObjectBytes + timeBytes;
  const bytes = Buffer.allocUnsafeSlow(body.length + addedBytes);
  body.copy(bytes);
  return { bytes, streams, labelsAt: body.length };
}

/** @yields the bytes of each entry with its labels. @throws AppError `malformed` */
export function* eachProtobufEntry(
  { bytes, streams, labelsAt }: PushRequest,
  entry: EntrySlots,
): Generator<number> {
  const wire = new ProtobufWire(bytes);
  for (const { start, end, labels } of streams) {
    const labelBytes = bytes.write(toJson(wire, labels), labelsAt);
    for (wire.at = start; wire.at < end; ) {
      const read = wire.tag(end);
      if (read !== tag.entry) {
        wire.skip(read, end);
        continue;
      }
      const entryEnd = wire.lengthEnd(end);
      const entryBytes = entryEnd - wire.at;
      entry.clear();
      entry.readLabels(labelsAt);
      readEntry(wire, entry, entryEnd);
      entry.finish();
      yield labelBytes + entryBytes + timeBytes;
    }
  }
}

/** Reads the message from the cursor to `end`. */
function readEntry(wire: ProtobufWire, entry: EntrySlots, end: number): void {
  let line: TextRange = { start: end, end };
  while (wire.at < end) {
    const read = wire.tag(end);
    if (read === tag.time) readTime(wire, entry, wire.lengthEnd(end));
    else if (read === tag.line) line = readText(wire, end);
    else if (read === tag.metadata) readMetadata(wire, entry, wire.lengthEnd(end));
    else wire.skip(read, end);
  }
  entry.setText(field.message, line);
}

/** Writes the time as text behind the request: a slot is a range of its bytes. */
function readTime(wire: ProtobufWire, entry: EntrySlots, end: number): void {
  let seconds = 0n;
  let nanos = 0n;
  while (wire.at < end) {
    const read = wire.tag(end);
    if (read === tag.seconds) seconds = wire.int64(end);
    else if (read === tag.nanos) nanos = wire.int64(end);
    else wire.skip(read, end);
  }
  const { bytes } = wire;
  const start = bytes.length - timeBytes;
  const length = bytes.write(String(seconds * 1_000_000_000n + nanos), start, 'latin1');
  entry.setText(field.timestamp, { start, end: start + length });
}

function readMetadata(wire: ProtobufWire, entry: EntrySlots, end: number): void {
  let name: TextRange = { start: end, end };
  let value = name;
  while (wire.at < end) {
    const read = wire.tag(end);
    if (read === tag.name) name = readText(wire, end);
    else if (read === tag.value) value = readText(wire, end);
    else wire.skip(read, end);
  }
  entry.setLabel(name, value);
}

function readText(wire: ProtobufWire, end: number): TextRange {
  const textEnd = wire.lengthEnd(end);
  const start = wire.at;
  wire.at = textEnd;
  return { start, end: textEnd };
}

/**
 * @returns the labels of the stream from the cursor to `end`, an empty range if it has none, or
 *   undefined if it has no entries
 */
function findLabels(wire: ProtobufWire, end: number): TextRange | undefined {
  let labels: TextRange = { start: end, end };
  let hasEntries = false;
  while (wire.at < end) {
    const read = wire.tag(end);
    hasEntries ||= read === tag.entry;
    if (read === tag.labels) labels = readText(wire, end);
    else wire.skip(read, end);
  }
  return hasEntries ? labels : undefined;
}

/** @returns a JSON object */
function toJson({ bytes }: ProtobufWire, { start, end }: TextRange): string {
  const labels = start === end ? [] : parseLabels(bytes.toString('utf8', start, end));
  const members = labels.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${members.join(',')}}`;
}

/** @param text `{name="value", …}`, in the quotes of Go */
function parseLabels(text: string): [string, string][] {
  if (text.length > maxLabelBytes) throw tooManyLabelBytes();
  const inner = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1]?.trim();
  if (inner === undefined) throw unreadableLabels(text);
  const labels: [string, string][] = [];
  for (label.lastIndex = 0; label.lastIndex < inner.length; ) {
    const [, name, quoted, raw] = label.exec(inner) ?? [];
    if (name === undefined) throw unreadableLabels(text);
    labels.push([name, raw ?? unquote(quoted ?? '')]);
  }
  return labels;
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
};

function unquote(text: string): string {
  return text.replaceAll(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/gs,
    (_all, byte: string | undefined, unit: string | undefined, letter: string | undefined) => {
      const code = byte ?? unit;
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return escapes[letter ?? ''] ?? letter ?? '';
    },
  );
}

function unreadableLabels(text: string): AppError {
  const seen = JSON.stringify(text.slice(0, 100));
  return new AppError('malformed', `cannot read the labels of a stream: ${seen}`);
}
