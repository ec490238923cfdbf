/** The entries of Forward messages, in any of the modes of the protocol. */
import { isUtf8 } from 'node:buffer';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { AppError } from '../../../model/errors.ts';
import type { DecodeContext, DecodeLimits } from '../../../model/protocol.ts';
import type { OpenEvents } from '../decode-events.ts';
import { EventBatch } from '../event-batch.ts';
import type { EventSlots } from '../event-fields.ts';
import { bytesAt, elementsOf, Head, headAt, malformed, skipValue } from './msgpack.ts';
import { RecordSlots } from './record-slots.ts';

interface Message {
  /** UTF-8; other bytes are repaired. */
  readonly tag: Buffer;
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
  return { tag: repaired(tag), rest, options: optionsOf(bytes, rest.at(-1)!, rest.length) };
}

function repaired(text: Buffer): Buffer {
  return isUtf8(text) ? text : Buffer.from(text.toString());
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

export interface ForwardBody {
  /** Messages one after another. */
  readonly body: Buffer;
  /** Of the compressed entries of all messages together: their rows are held until the end. */
  readonly maxInflatedBytes: number;
  readonly coverHeap: DecodeContext['coverHeap'];
}

/** Inflated entries, their copy in `RecordSlots`, their rows, and the copy of these. */
const heapBytesPerInflatedByte = 4;

export const openMessages: OpenEvents<ForwardBody> = (forward, workspace, limits) => {
  const records = new RecordSlots(forward.body, workspace.slots, limits.maxDepth);
  const batch = new EventBatch(records.bytes, workspace, limits);
  const entries = new Entries(batch, workspace.slots, limits);
  return { batch, events: entries.each(forward, records) };
};

class Entries {
  readonly #batch: EventBatch;
  readonly #slots: EventSlots;
  readonly #limits: DecodeLimits;
  readonly #head = new Head();
  #count = 0;

  constructor(batch: EventBatch, slots: EventSlots, limits: DecodeLimits) {
    this.#batch = batch;
    this.#slots = slots;
    this.#limits = limits;
  }

  *each(
    { body, maxInflatedBytes, coverHeap }: ForwardBody,
    records: RecordSlots,
  ): Generator<number> {
    const head = this.#head;
    let inflatedBytes = 0;
    for (let at = 0; at < body.length; at = skipValue(body, at, head)) {
      const { tag, rest, options } = readMessage(body, at);
      const first = rest[0]!;
      const { kind, size, end } = headAt(body, first, head);
      if (kind === 'array') {
        yield* this.#entries(records, body, { tag, at: end, count: size });
      } else if (kind === 'string' || kind === 'binary') {
        const packed = { tag, at: head.start, count: Infinity };
        const coding = options.get('compressed');
        if (coding === undefined || coding === 'text') {
          yield* this.#entries(records, body.subarray(0, end), packed);
        } else {
          const entries = inflate(body.subarray(packed.at, end), coding, maxInflatedBytes);
          inflatedBytes += entries.length;
          if (inflatedBytes > maxInflatedBytes) throw tooLarge(maxInflatedBytes);
          coverHeap?.(body.length + heapBytesPerInflatedByte * inflatedBytes);
          const inflated = new RecordSlots(entries, this.#slots, this.#limits.maxDepth);
          this.#batch.continueIn(inflated.bytes);
          yield* this.#entries(inflated, entries, { ...packed, at: 0 });
          this.#batch.continueIn(records.bytes);
        }
      } else {
        const record = rest[1];
        if (record === undefined) throw malformed(at, 'a message must have a record');
        yield this.#read(records, tag, first, record) - first;
      }
    }
  }

  /** Entries `[time, record]` one after another, up to the end of the bytes. */
  *#entries(
    records: RecordSlots,
    bytes: Buffer,
    { tag, at, count }: { readonly tag: Buffer; readonly at: number; readonly count: number },
  ): Generator<number> {
    const head = this.#head;
    for (let entry = 0, start = at; entry < count && start < bytes.length; entry += 1) {
      const { kind, size, end: timeAt } = headAt(bytes, start, head);
      if (kind !== 'array' || size !== 2) {
        throw malformed(start, 'an entry must be a time and a record');
      }
      const next = this.#read(records, tag, timeAt, skipValue(bytes, timeAt, head));
      if (next > bytes.length) throw malformed(start, 'the message ends');
      yield next - start;
      start = next;
    }
  }

  #read(records: RecordSlots, tag: Buffer, timeAt: number, at: number): number {
    const { maxEvents } = this.#limits;
    this.#count += 1;
    if (this.#count <= maxEvents) return records.read(tag, timeAt, at);
    const limit = `${maxEvents} events (forward.maxEvents)`;
    throw new AppError('too_large', `cannot accept more than ${limit} in one message`);
  }
}

function tooLarge(maxInflatedBytes: number, cause?: unknown): AppError {
  const limit = `${maxInflatedBytes} bytes (forward.maxInflatedBytes)`;
  return new AppError('too_large', `cannot accept entries of more than ${limit}`, { cause });
}

function inflate(packed: Buffer, coding: string, maxOutputLength: number): Buffer {
  try {
    if (coding === 'gzip') return gunzipSync(packed, { maxOutputLength });
    if (coding === 'zstd') return zstdDecompressSync(packed, { maxOutputLength });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(maxOutputLength, cause);
    }
    throw new AppError('malformed', `cannot decompress the entries: ${coding} is damaged`, {
      cause,
    });
  }
  throw new AppError('malformed', 'cannot decompress the entries: use gzip, zstd or text');
}
