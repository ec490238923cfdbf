/**
 * A transport over a byte stream between two processes. A message is a frame of a header, JSON, and
 * the bytes of at most one transferred view, which arrive in a separate buffer.
 *
 *  0 u32 bytes of JSON   4 u32 bytes of the view
 */
import type { Duplex } from 'node:stream';
import { sendAgain } from '../model/errors.ts';
import { freeMemory, ownMemory } from '../std/free-memory.ts';
import type { Message, Transport } from './channel.ts';

const headerBytes = 8;
/** Bounds of what a damaged header could make the reader allocate; real frames are far smaller. */
const maxTextBytes = 256 * 1024 * 1024;
const maxTailBytes = 1024 * 1024 * 1024;
const noBytes = Buffer.alloc(0);

/**
 * Values are those of JSON, Uint8Array, Map and Set; arrays hold no undefined, and keys, which no
 * sender may choose, do not begin with `$`. The buffer of a transferred view is freed once it is
 * sent, unless other views share it.
 * @param stream owned by the transport from now on
 */
export function overStream(stream: Duplex): Transport {
  const closed = Promise.withResolvers<Error>();
  let isCorked = false;
  // The `close` event that follows is handled instead.
  stream.on('error', () => {});
  stream.on('end', () => stream.destroy());
  const gone = () => closed.resolve(sendAgain(new Error('the other process is gone')));
  stream.once('close', gone);

  /** Messages of one event-loop turn leave in one system call. */
  function corkTurn(): void {
    if (isCorked) return;
    isCorked = true;
    stream.cork();
    process.nextTick(() => {
      isCorked = false;
      stream.uncork();
    });
  }

  return {
    send(message, buffers) {
      if (stream.destroyed) return;
      corkTurn();
      const { head, tail } = encodeMessage(message, buffers);
      stream.write(head);
      if (tail.length > 0) stream.write(tail, () => freeMemory([ownMemory(tail)]));
    },
    listen(receive) {
      const reader = new FrameReader();
      stream.on('data', (chunk: Buffer) => {
        try {
          reader.push(chunk, receive);
        } catch (error) {
          stream.destroy(error as Error);
        }
      });
    },
    closed: closed.promise,
    close: () => stream.destroy(),
  };
}

/** @returns header and JSON, and the transferred view */
export function encodeMessage(
  message: Message,
  buffers: readonly ArrayBuffer[],
): { readonly head: Buffer; readonly tail: Uint8Array } {
  let tail: Uint8Array = noBytes;
  const plain = toPlain(message, (view) => {
    if (tail !== noBytes || !buffers.includes(view.buffer as ArrayBuffer)) return false;
    tail = view;
    return true;
  });
  const text = JSON.stringify(plain);
  const textBytes = Buffer.byteLength(text);
  const head = Buffer.allocUnsafe(headerBytes + textBytes);
  head.writeUInt32LE(textBytes, 0);
  head.writeUInt32LE(tail.length, 4);
  head.write(text, headerBytes);
  return { head, tail };
}

/** Assembles frames from chunks of any size. */
export class FrameReader {
  readonly #header = Buffer.allocUnsafe(headerBytes);
  #text: Buffer | undefined;
  #tail: Buffer | undefined;
  /** Either the header, the JSON or the view, whichever is being filled. */
  #part = this.#header;
  #filled = 0;

  /** @throws Error after which the rest of the stream cannot be read */
  push(chunk: Buffer, receive: (message: Message) => void): void {
    let at = 0;
    for (;;) {
      const count = Math.min(this.#part.length - this.#filled, chunk.length - at);
      chunk.copy(this.#part, this.#filled, at, at + count);
      this.#filled += count;
      at += count;
      if (this.#filled < this.#part.length) return;
      this.#filled = 0;
      this.#finishPart(receive);
    }
  }

  #finishPart(receive: (message: Message) => void): void {
    if (this.#text === undefined) {
      const textBytes = this.#header.readUInt32LE(0);
      if (textBytes > maxTextBytes) throw new Error(`cannot read a text of ${textBytes} bytes`);
      this.#part = this.#text = Buffer.allocUnsafe(textBytes);
      return;
    }
    if (this.#tail === undefined) {
      const tailBytes = this.#header.readUInt32LE(4);
      if (tailBytes > maxTailBytes) throw new Error(`cannot read a view of ${tailBytes} bytes`);
      this.#part = this.#tail = tailBytes === 0 ? noBytes : Buffer.allocUnsafeSlow(tailBytes);
      return;
    }
    const [text, tail] = [this.#text.toString(), this.#tail];
    this.#text = undefined;
    this.#tail = undefined;
    this.#part = this.#header;
    receive(fromPlain(JSON.parse(text), tail) as Message);
  }
}

/** Replaces what JSON cannot carry; objects without such values are returned as they are. */
function toPlain(value: unknown, isTail: (view: Uint8Array) => boolean): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = (each: unknown) => toPlain(each, isTail);
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Uint8Array) {
    const { buffer, byteOffset, byteLength } = value;
    const bytes = () => Buffer.from(buffer, byteOffset, byteLength).toString('base64');
    return isTail(value) ? { $tail: true } : { $bytes: bytes() };
  }
  if (value instanceof Map) return { $map: [...value].map(inner) };
  if (value instanceof Set) return { $set: [...value].map(inner) };
  let copy: Record<string, unknown> | undefined;
  for (const [key, each] of Object.entries(value)) {
    const plain = inner(each);
    if (plain !== each) (copy ??= { ...value })[key] = plain;
  }
  return copy ?? value;
}

/** The inverse, in place. */
function fromPlain(value: unknown, tail: Buffer): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) value[index] = fromPlain(each, tail);
    return value;
  }
  const plain = value as Record<string, unknown>;
  if (plain['$tail'] !== undefined) return tail;
  if (plain['$bytes'] !== undefined) return Buffer.from(plain['$bytes'] as string, 'base64');
  for (const key in plain) plain[key] = fromPlain(plain[key], tail);
  if (plain['$map'] !== undefined) return new Map(plain['$map'] as [unknown, unknown][]);
  if (plain['$set'] !== undefined) return new Set(plain['$set'] as unknown[]);
  return plain;
}
