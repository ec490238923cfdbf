/** A push request of Loki in protobuf (logproto.PushRequest) as events, one in each line. */
import { ProtobufWire, toTag, wireType } from '../../../codec/protobuf-wire.ts';
import { AppError } from '../../../model/errors.ts';
import { EventLines, tooManyLabels, toMembers } from './loki-events.ts';

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

/** @throws AppError `malformed` | `too_large` */
export function* eachProtobufPiece(body: Buffer): Generator<Buffer> {
  const wire = new ProtobufWire(body);
  const lines = new EventLines(body.length, 'utf8');
  while (wire.at < body.length) {
    const field = wire.tag(body.length);
    if (field !== tag.stream) {
      wire.skip(field, body.length);
      continue;
    }
    const end = wire.lengthEnd(body.length);
    const start = wire.at;
    const labels = readLabels(wire, end);
    for (wire.at = start; wire.at < end; ) {
      const inner = wire.tag(end);
      if (inner !== tag.entry) {
        wire.skip(inner, end);
        continue;
      }
      lines.add(labels + readEntry(wire, wire.lengthEnd(end)));
      if (lines.isFull) yield lines.take();
    }
  }
  yield lines.take();
}

/** Labels may follow the entries. */
function readLabels(wire: ProtobufWire, end: number): string {
  let labels = '';
  while (wire.at < end) {
    const field = wire.tag(end);
    if (field === tag.labels) labels = toMembers(parseLabels(readText(wire, end)));
    else wire.skip(field, end);
  }
  return labels;
}

/** @returns the members of the event */
function readEntry(wire: ProtobufWire, end: number): string {
  let time = '';
  let line = '';
  const metadata: [string, string][] = [];
  while (wire.at < end) {
    const field = wire.tag(end);
    if (field === tag.time) time = readTime(wire, wire.lengthEnd(end));
    else if (field === tag.line) line = readText(wire, end);
    else if (field === tag.metadata) metadata.push(readPair(wire, wire.lengthEnd(end)));
    else wire.skip(field, end);
  }
  const timeMember = time === '' ? '' : `"timestamp":"${time}",`;
  return `${toMembers(metadata)}${timeMember}"message":${JSON.stringify(line)}`;
}

/** @returns nanoseconds since 1970 */
function readTime(wire: ProtobufWire, end: number): string {
  let seconds = 0n;
  let nanos = 0n;
  while (wire.at < end) {
    const field = wire.tag(end);
    if (field === tag.seconds) seconds = wire.int64(end);
    else if (field === tag.nanos) nanos = wire.int64(end);
    else wire.skip(field, end);
  }
  return String(seconds * 1_000_000_000n + nanos);
}

function readPair(wire: ProtobufWire, end: number): [string, string] {
  let name = '';
  let value = '';
  while (wire.at < end) {
    const field = wire.tag(end);
    if (field === tag.name) name = readText(wire, end);
    else if (field === tag.value) value = readText(wire, end);
    else wire.skip(field, end);
  }
  return [name, value];
}

function readText(wire: ProtobufWire, end: number): string {
  const textEnd = wire.lengthEnd(end);
  const text = wire.bytes.toString('utf8', wire.at, textEnd);
  wire.at = textEnd;
  return text;
}

/** @param text `{name="value", …}`, in the quotes of Go */
function parseLabels(text: string): [string, string][] {
  if (text.length > tooManyLabels.bytes) throw tooManyLabels.error();
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
