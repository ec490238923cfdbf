/** The entries of Forward messages, in any of the modes of the protocol, as JSON events. */
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { AppError } from '../../model/errors.ts';
import { bytesAt, elementsOf, Head, headAt, malformed, skipValue } from './msgpack.ts';
import { RecordWriter } from './record-json.ts';

const pieceBytes = 256 * 1024;

export interface EntryLimits {
  readonly maxEvents: number;
  readonly maxDepth: number;
  /** Of the entries of one message. */
  readonly maxInflatedBytes: number;
}

interface Message {
  readonly tag: string;
  /** Elements after the tag. */
  readonly rest: readonly number[];
  readonly options: ReadonlyMap<string, string>;
}

/** @param at position of the message. @throws AppError `malformed` */
function readMessage(bytes: Buffer, at: number): Message {
  const [tagAt, ...rest] = elementsOf(bytes, at, 4) ?? [];
  const tag = tagAt === undefined ? undefined : bytesAt(bytes, tagAt);
  if (tag === undefined || rest.length === 0) {
    throw malformed(at, 'a message must be an array that begins with a tag');
  }
  return { tag: tag.toString(), rest, options: optionsOf(bytes, rest.at(-1)!, rest.length) };
}

/** The options are the last element; a record of the Message mode is not. */
function optionsOf(bytes: Buffer, at: number, count: number): Map<string, string> {
  const options = new Map<string, string>();
  const head = new Head();
  if (count < 2 || headAt(bytes, at, head).kind !== 'map') return options;
  const pairs = Math.min(head.size, 16);
  at = head.end;
  for (let pair = 0; pair < pairs; pair += 1) {
    const key = bytesAt(bytes, at)?.toString();
    at = skipValue(bytes, at, head);
    const value = bytesAt(bytes, at)?.toString();
    if (key !== undefined && value !== undefined) options.set(key, value);
    at = skipValue(bytes, at, head);
  }
  return options;
}

/** The identifier that the sender wants acknowledged. */
export function chunkOf(message: Buffer): string | undefined {
  const { rest, options } = readMessage(message, 0);
  const isMessageMode = rest.length === 2 && !isBatch(message, rest[0]!);
  return isMessageMode ? undefined : options.get('chunk');
}

function isBatch(bytes: Buffer, at: number): boolean {
  const { kind } = headAt(bytes, at, new Head());
  return kind === 'array' || kind === 'string' || kind === 'binary';
}

/** Yields lines of JSON events. @param body messages one after another. @throws AppError */
export function* eachEventPiece(body: Buffer, limits: EntryLimits): Generator<Buffer> {
  const head = new Head();
  const lines = new Lines(limits.maxEvents);
  for (let at = 0; at < body.length; at = skipValue(body, at, head)) {
    const { tag, rest, options } = readMessage(body, at);
    const first = rest[0]!;
    const { kind, size, end } = headAt(body, first, head);
    if (kind === 'array') {
      yield* eachEntry(body, end, { count: size, tag, limits, lines });
    } else if (kind === 'string' || kind === 'binary') {
      const packed = inflate(bytesAt(body, first)!, options.get('compressed'), limits);
      yield* eachEntry(packed, 0, { count: Infinity, tag, limits, lines });
    } else {
      const record = rest[1];
      if (record === undefined) throw malformed(at, 'a message must have a record');
      const writer = new RecordWriter(body, head, limits.maxDepth);
      lines.add(writer.write(record, toMembers(tag, writer.time(first))).line);
    }
    if (lines.size >= pieceBytes) yield lines.take();
  }
  yield lines.take();
}

interface Entries {
  readonly count: number;
  readonly tag: string;
  readonly limits: EntryLimits;
  readonly lines: Lines;
}

/** Entries `[time, record]` one after another. */
function* eachEntry(bytes: Buffer, at: number, entries: Entries): Generator<Buffer> {
  const { count, tag, limits, lines } = entries;
  const head = new Head();
  const writer = new RecordWriter(bytes, head, limits.maxDepth);
  for (let entry = 0; entry < count && at < bytes.length; entry += 1) {
    const { kind, size, end } = headAt(bytes, at, head);
    if (kind !== 'array' || size !== 2) throw malformed(at, 'an entry must be a time and a record');
    const time = timeOf(bytes, end, writer);
    const { line, end: after } = writer.write(skipValue(bytes, end, head), toMembers(tag, time));
    lines.add(line);
    at = after;
    if (lines.size >= pieceBytes) yield lines.take();
  }
}

/** fluentd 1.16 may send `[time, metadata]` in place of the time. */
function timeOf(bytes: Buffer, at: number, writer: RecordWriter): string | undefined {
  const pair = headAt(bytes, at, new Head());
  return writer.time(pair.kind === 'array' && pair.size > 0 ? pair.end : at);
}

function toMembers(tag: string, time: string | undefined): string {
  const label = `"tag":${JSON.stringify(tag)},`;
  return time === undefined ? label : `${label}"timestamp":${time},`;
}

function inflate(packed: Buffer, coding: string | undefined, limits: EntryLimits): Buffer {
  if (coding === undefined || coding === 'text') return packed;
  const options = { maxOutputLength: limits.maxInflatedBytes };
  try {
    if (coding === 'gzip') return gunzipSync(packed, options);
    if (coding === 'zstd') return zstdDecompressSync(packed, options);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      const limit = `${limits.maxInflatedBytes} bytes (forward.maxInflatedBytes)`;
      throw new AppError('too_large', `cannot accept entries of more than ${limit}`, { cause });
    }
    throw new AppError('malformed', `cannot decompress the entries: ${coding} is damaged`, {
      cause,
    });
  }
  throw new AppError('malformed', 'cannot decompress the entries: use gzip, zstd or text');
}

class Lines {
  readonly #maxEvents: number;
  #lines: string[] = [];
  #events = 0;
  size = 0;

  constructor(maxEvents: number) {
    this.#maxEvents = maxEvents;
  }

  add(line: string): void {
    this.#events += 1;
    if (this.#events > this.#maxEvents) {
      const limit = `${this.#maxEvents} events (forward.maxEvents)`;
      throw new AppError('too_large', `cannot accept more than ${limit} in one message`);
    }
    this.#lines.push(line, '\n');
    this.size += line.length;
  }

  take(): Buffer {
    const piece = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.size = 0;
    return piece;
  }
}
