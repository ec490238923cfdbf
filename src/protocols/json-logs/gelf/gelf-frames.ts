/** GELF without HTTP: datagrams that may be parts of a message. */
import { gunzipSync, inflateSync } from 'node:zlib';

const newline = Buffer.from('\n');

/** Messages one after another. */
export function joinGelf(messages: readonly Buffer[]): Buffer {
  return Buffer.concat(messages.flatMap((message) => [message, newline]));
}

const chunkMagic = 0x1e0f;
/** Magic, message id, number and count. */
const chunkHeadBytes = 12;
const maxChunks = 128;
/** As in Graylog. */
const maxAgeMs = 5000;
const maxPending = 1000;
const maxPendingBytes = 32 * 1024 * 1024;

interface Pending {
  readonly chunks: Buffer[];
  readonly sinceMs: number;
  missing: number;
  bytes: number;
}

/** Puts datagrams together, and inflates what they contain. */
export class GelfDatagrams {
  readonly #maxBytes: number;
  readonly #nowMs: () => number;
  /** In order of arrival. */
  readonly #pending = new Map<string, Pending>();
  #pendingBytes = 0;
  readonly #onIncomplete: () => void;

  /** @param onIncomplete is called for a message of which the rest did not arrive */
  constructor(maxBytes: number, nowMs: () => number, onIncomplete: () => void) {
    this.#maxBytes = maxBytes;
    this.#nowMs = nowMs;
    this.#onIncomplete = onIncomplete;
  }

  /** @returns the message that the datagram completes; what cannot be inflated stays as it is */
  add(datagram: Buffer, sender: string): Buffer | undefined {
    const isChunk = datagram.length > chunkHeadBytes && datagram.readUInt16BE(0) === chunkMagic;
    const whole = isChunk ? this.#addChunk(datagram, sender) : datagram;
    return whole && inflate(whole, this.#maxBytes);
  }

  #addChunk(datagram: Buffer, sender: string): Buffer | undefined {
    const [number, count] = [datagram[10]!, datagram[11]!];
    if (count > maxChunks || number >= count) return undefined;
    this.#forget();
    // With the count: a part with another one belongs to another message.
    const key = `${sender} ${datagram.toString('hex', 2, 10)} ${count}`;
    const known = this.#pending.get(key);
    const one = known ?? { chunks: [], sinceMs: this.#nowMs(), missing: count, bytes: 0 };
    this.#pending.set(key, one);
    if (one.chunks[number] !== undefined) return undefined;
    const content = datagram.subarray(chunkHeadBytes);
    one.chunks[number] = content;
    one.bytes += content.length;
    this.#pendingBytes += content.length;
    one.missing -= 1;
    if (one.missing > 0 && one.bytes <= this.#maxBytes) return undefined;
    this.#remove(key, one);
    if (one.missing === 0) return Buffer.concat(one.chunks);
    this.#onIncomplete();
    return undefined;
  }

  #forget(): void {
    const oldestMs = this.#nowMs() - maxAgeMs;
    for (const [key, one] of this.#pending) {
      const hasRoom = this.#pending.size < maxPending && this.#pendingBytes <= maxPendingBytes;
      if (hasRoom && one.sinceMs > oldestMs) return;
      this.#remove(key, one);
      this.#onIncomplete();
    }
  }

  #remove(key: string, { bytes }: Pending): void {
    this.#pending.delete(key);
    this.#pendingBytes -= bytes;
  }
}

function inflate(message: Buffer, maxOutputLength: number): Buffer {
  try {
    if (message[0] === 0x1f && message[1] === 0x8b) return gunzipSync(message, { maxOutputLength });
    if (message[0] === 0x78) return inflateSync(message, { maxOutputLength });
  } catch {
    // Not JSON either, so that it is counted as rejected.
  }
  return message;
}
