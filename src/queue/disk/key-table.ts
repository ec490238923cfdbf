/**
 * The newest idempotency keys in memory: a hash table that evicts in insertion order. Typed arrays,
 * because a million small objects would take several times the memory.
 */
import { randomInt } from 'node:crypto';
import type { RememberedAnswer } from '../port.ts';
import { digestBytes } from '../frame.ts';
import { readKeyEntries } from './key-chunk.ts';

const words = digestBytes / 4;
const firstCapacity = 1024;
const pieceBytes = 64 * 1024;

export interface KeyTableOptions {
  readonly maxKeys: number;
  readonly ttlMs: number;
  /** Keys are evicted early where their answers would take more. */
  readonly maxAnswerBytes: number;
}

/** A ring of slots, and an open-addressing index of twice that length: slot + 1, 0 = free. */
interface Slots {
  readonly capacity: number;
  readonly keys: Uint32Array;
  readonly digests: Uint8Array;
  readonly stampsMs: Float64Array;
  readonly answerStarts: Float64Array;
  readonly answerLengths: Uint32Array;
  readonly index: Uint32Array;
}

export class KeyTable {
  readonly #options: KeyTableOptions;
  readonly #answers = new AnswerArena();
  /** Odd and secret, so that a sender cannot choose keys that collide. */
  readonly #factors = Array.from({ length: words }, () => randomInt(2 ** 31) * 2 + 1);
  readonly #probe = new Uint32Array(words);
  readonly #probeBytes = new Uint8Array(this.#probe.buffer);
  #slots = createSlots(firstCapacity);
  #oldest = 0;
  #size = 0;

  constructor(options: KeyTableOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** Inserts or replaces an answer; copies its arguments. */
  insert(key: Uint8Array, remembered: RememberedAnswer & { readonly stampMs: number }): void {
    const { answer, bodyDigest, stampMs } = remembered;
    this.#makeRoom(answer.length, stampMs);
    if (this.#size === this.#slots.capacity) this.#grow();
    const slots = this.#slots;
    const slot = (this.#oldest + this.#size) & (slots.capacity - 1);
    this.#probeBytes.set(key);
    slots.keys.set(this.#probe, slot * words);
    slots.digests.set(bodyDigest, slot * digestBytes);
    slots.stampsMs[slot] = stampMs;
    slots.answerStarts[slot] = this.#answers.append(answer);
    slots.answerLengths[slot] = answer.length;
    this.#size++;
    slots.index[this.#find(slots, this.#probe)] = slot + 1;
  }

  /** Inserts the keys of a chunk of the key log. */
  insertChunk({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): void {
    const entries = readKeyEntries(Buffer.from(buffer, byteOffset, length));
    for (const { key, bodyDigest, answer, stampNanos } of entries) {
      this.insert(key, { bodyDigest, answer, stampMs: Number(stampNanos / 1_000_000n) });
    }
  }

  /** The answer for `key`, unless it has expired. */
  recall(key: Uint8Array, nowMs: number): RememberedAnswer | undefined {
    const slots = this.#slots;
    this.#probeBytes.set(key);
    const found = slots.index[this.#find(slots, this.#probe)] ?? 0;
    if (found === 0) return undefined;
    const slot = found - 1;
    if ((slots.stampsMs[slot] ?? 0) + this.#options.ttlMs < nowMs) return undefined;
    const start = slots.answerStarts[slot] ?? 0;
    return {
      bodyDigest: slots.digests.slice(slot * digestBytes, (slot + 1) * digestBytes),
      answer: this.#answers.read(start, slots.answerLengths[slot] ?? 0),
    };
  }

  #makeRoom(answerBytes: number, nowMs: number): void {
    const { maxKeys, maxAnswerBytes, ttlMs } = this.#options;
    while (this.#size > 0) {
      const start = this.#slots.answerStarts[this.#oldest] ?? 0;
      const isExpired = (this.#slots.stampsMs[this.#oldest] ?? 0) + ttlMs < nowMs;
      const isFull = this.#answers.end - start + answerBytes > maxAnswerBytes;
      if (this.#size < maxKeys && !isExpired && !isFull) return;
      this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    const slots = this.#slots;
    const slot = this.#oldest;
    const position = this.#find(slots, slots.keys.subarray(slot * words, (slot + 1) * words));
    // A later insert of the same key may have taken the place.
    if (slots.index[position] === slot + 1) {
      closeHole(slots.index, position, (each) => this.#home(slots, each));
    }
    this.#oldest = (slot + 1) & (slots.capacity - 1);
    this.#size--;
    this.#answers.dropBefore(
      this.#size === 0 ? this.#answers.end : (slots.answerStarts[this.#oldest] ?? 0),
    );
  }

  /** The key's place in the index, or the free place for it. */
  #find(slots: Slots, key: Uint32Array): number {
    const mask = slots.index.length - 1;
    let position = this.#hash(key, 0) & mask;
    for (;;) {
      const found = slots.index[position] ?? 0;
      if (found === 0 || isSameKey(slots.keys, (found - 1) * words, key)) return position;
      position = (position + 1) & mask;
    }
  }

  #home(slots: Slots, slot: number): number {
    return this.#hash(slots.keys, slot * words) & (slots.index.length - 1);
  }

  #hash(keys: Uint32Array, at: number): number {
    let hash = 0;
    for (let word = 0; word < words; word++) {
      hash = (hash + Math.imul(keys[at + word] ?? 0, this.#factors[word] ?? 1)) | 0;
    }
    return (hash ^ (hash >>> 15)) >>> 0;
  }

  #grow(): void {
    const from = this.#slots;
    const to = createSlots(from.capacity * 2);
    for (let each = 0; each < this.#size; each++) {
      const slot = (this.#oldest + each) & (from.capacity - 1);
      to.keys.set(from.keys.subarray(slot * words, (slot + 1) * words), each * words);
      const digest = from.digests.subarray(slot * digestBytes, (slot + 1) * digestBytes);
      to.digests.set(digest, each * digestBytes);
      to.stampsMs[each] = from.stampsMs[slot] ?? 0;
      to.answerStarts[each] = from.answerStarts[slot] ?? 0;
      to.answerLengths[each] = from.answerLengths[slot] ?? 0;
      to.index[this.#find(to, to.keys.subarray(each * words, (each + 1) * words))] = each + 1;
    }
    this.#slots = to;
    this.#oldest = 0;
  }
}

function createSlots(capacity: number): Slots {
  return {
    capacity,
    keys: new Uint32Array(capacity * words),
    digests: new Uint8Array(capacity * digestBytes),
    stampsMs: new Float64Array(capacity),
    answerStarts: new Float64Array(capacity),
    answerLengths: new Uint32Array(capacity),
    index: new Uint32Array(capacity * 2),
  };
}

function isSameKey(keys: Uint32Array, at: number, key: Uint32Array): boolean {
  for (let word = 0; word < words; word++) {
    if (keys[at + word] !== key[word]) return false;
  }
  return true;
}

/** Frees a place and moves up the entries after it (linear probing without tombstones). */
function closeHole(index: Uint32Array, position: number, homeOf: (slot: number) => number): void {
  const mask = index.length - 1;
  let hole = position;
  let next = (hole + 1) & mask;
  for (let found = index[next] ?? 0; found !== 0; found = index[next] ?? 0) {
    const distanceFromHome = (next - homeOf(found - 1)) & mask;
    if (distanceFromHome >= ((next - hole) & mask)) {
      index[hole] = found;
      hole = next;
    }
    next = (next + 1) & mask;
  }
  index[hole] = 0;
}

interface Piece {
  readonly bytes: Uint8Array;
  /** Position of its first byte. */
  readonly start: number;
}

/** Bytes in order of arrival, in a few large pieces that are dropped from the old end. */
class AnswerArena {
  #pieces: Piece[] = [];
  #end = 0;

  /** The lowest position that the next bytes can get. */
  get end(): number {
    return this.#end;
  }

  /** Copies the bytes. @returns their position */
  append(bytes: Uint8Array): number {
    let last = this.#pieces.at(-1);
    if (last === undefined || this.#end + bytes.length > last.start + last.bytes.length) {
      const start = last === undefined ? this.#end : last.start + last.bytes.length;
      last = { bytes: new Uint8Array(Math.max(pieceBytes, bytes.length)), start };
      this.#pieces.push(last);
      this.#end = start;
    }
    const position = this.#end;
    last.bytes.set(bytes, position - last.start);
    this.#end += bytes.length;
    return position;
  }

  /** A copy of the bytes at a position that `append` returned. */
  read(position: number, length: number): Uint8Array {
    const piece = this.#pieces.findLast((each) => each.start <= position);
    if (piece === undefined) throw new Error(`cannot read answer at ${position}: it was dropped`);
    return piece.bytes.slice(position - piece.start, position - piece.start + length);
  }

  /** Frees pieces that end before this position. */
  dropBefore(position: number): void {
    let [, second] = this.#pieces;
    while (second !== undefined && second.start <= position) {
      this.#pieces.shift();
      [, second] = this.#pieces;
    }
  }
}
