/**
 * Decodes the messages of a shard into batches: splits frames, joins chunks, sets times of receipt,
 * and tracks which messages carry a batch, so that each message is acknowledged once all of its
 * batches are finished. Pure; its only clock is that of the stream.
 */
import type { StampedBatch } from '../../model/batch.ts';
import { larger, smaller } from '../../std/big-integers.ts';
import { decodeFrame, type FrameHeader, isBodyIntact, readFrameHeader } from '../frame.ts';
import { type Chunk, messageKinds, type QueuedMessage } from './messages.ts';
import { type Upload, Uploads } from './uploads.ts';

/** A batch with the numbers of all messages that carry it. */
export interface HeldBatch {
  readonly batch: StampedBatch;
  readonly isSuspect: boolean;
  readonly messages: number[];
}

/** Bytes that are not a frame; their messages stay until the bytes are in quarantine. */
export interface Damage {
  readonly bytes: Buffer;
  readonly reason: string;
  readonly messages: readonly number[];
}

export interface Assembled {
  /** In the order of the stream. */
  readonly batches: readonly HeldBatch[];
  readonly damage: readonly Damage[];
  /** Messages to acknowledge at once: ticks, and pieces of uploads that cannot be completed. */
  readonly spent: readonly number[];
  /** Incomplete uploads that timed out. */
  readonly droppedUploads: number;
}

/** The messages that a frame was read from. */
interface Origin extends Readonly<Pick<Upload, 'timeNanos' | 'isSuspect' | 'copiesSinceNanos'>> {
  readonly messages: readonly number[];
}

/**
 * How far the time of receipt of a stored copy may differ from the current one, since the clocks of
 * gateways and of successive stream leaders differ.
 */
const clockSlackNanos = 3_600_000_000_000n;

export class Assembler {
  #lastNanos: bigint;
  readonly #uploads = new Uploads();
  /** By batch id, to find what was published twice. */
  readonly #batches = new Map<string, HeldBatch>();
  /** Batches that are in quarantine. */
  readonly #quarantined = new WeakSet<HeldBatch>();
  /** By message: how many of its batches are unfinished. */
  readonly #parts = new Map<number, number>();

  /** @param floorNanos Unix ns; every time of receipt is later */
  constructor(floorNanos: bigint) {
    this.#lastNanos = floorNanos;
  }

  /** Unix ns: time of receipt of the last message; later messages get later ones. */
  get lastNanos(): bigint {
    return this.#lastNanos;
  }

  /** To be called in stream order, once for each message. */
  add(message: QueuedMessage): Assembled {
    // Later than every watermark so far, also after the clock of the stream went back.
    this.#lastNanos = larger(message.timeNanos, this.#lastNanos + 1n);
    const dropped = this.#uploads.dropStale(message.timeNanos);
    const assembled = this.#read(message);
    const spent = [...this.#forget(dropped.messages), ...assembled.spent];
    return { ...assembled, spent, droppedUploads: dropped.uploads };
  }

  /**
   * To be called before a batch is put into quarantine: a later message with it may come from a
   * retry there, and then is another batch.
   */
  quarantined(batch: StampedBatch): void {
    const held = this.#batches.get(toKey(batch));
    if (held?.batch.receivedAtNanos === batch.receivedAtNanos) this.#quarantined.add(held);
  }

  /**
   * Finishes batches or damage.
   * @returns the messages that are finished with them
   */
  done(finished: readonly (HeldBatch | Damage)[]): number[] {
    const spent: number[] = [];
    for (const each of finished) {
      if ('batch' in each) this.#forgetBatch(each);
      for (const sequence of each.messages) {
        const left = (this.#parts.get(sequence) ?? 1) - 1;
        this.#parts.set(sequence, left);
        if (left > 0) continue;
        this.#parts.delete(sequence);
        spent.push(sequence);
      }
    }
    return spent;
  }

  #forgetBatch(held: HeldBatch): void {
    const key = toKey(held.batch);
    if (this.#batches.get(key) === held) this.#batches.delete(key);
  }

  #read(message: QueuedMessage): Omit<Assembled, 'droppedUploads'> {
    const { sequence, timeNanos, kind, chunk, data, isSuspect, copiesSinceNanos } = message;
    if (kind === messageKinds.tick) return { batches: [], damage: [], spent: [sequence] };
    if (kind === messageKinds.frames) {
      const origin = { messages: [sequence], timeNanos, isSuspect, copiesSinceNanos };
      return this.#readFrames(data, origin);
    }
    this.#parts.set(sequence, 1);
    if (kind !== messageKinds.chunk) {
      return this.#damaged(data, `unknown kind of message ${JSON.stringify(kind)}`, [sequence]);
    }
    if (chunk === undefined || !Uploads.isPossible(chunk)) {
      return this.#damaged(data, 'a chunk without its number', [sequence]);
    }
    return this.#readChunk(message, chunk);
  }

  #readFrames(data: Buffer, origin: Origin): Omit<Assembled, 'droppedUploads'> {
    const batches: HeldBatch[] = [];
    const damage: Damage[] = [];
    let parts = 0;
    for (let offset = 0; offset < data.length; parts++) {
      const header = readFrameHeader(data, offset);
      const end = header === undefined ? data.length : offset + header.length;
      const frame = data.subarray(offset, end);
      offset = end;
      const fault = findFault(frame, header);
      if (fault !== undefined) {
        damage.push({ bytes: frame, reason: fault, messages: origin.messages });
        continue;
      }
      const held = this.#hold(frame, origin);
      if (held !== undefined) batches.push(held);
    }
    for (const sequence of origin.messages) {
      if (parts > 0) this.#parts.set(sequence, parts);
    }
    return { batches, damage, spent: parts === 0 ? [...origin.messages] : [] };
  }

  /** @returns undefined if the batch is held already */
  #hold(frame: Buffer, origin: Origin): HeldBatch | undefined {
    const { messages, timeNanos, isSuspect, copiesSinceNanos } = origin;
    const decoded = decodeFrame(frame);
    const key = toKey(decoded);
    const known = this.#batches.get(key);
    if (known !== undefined && !this.#quarantined.has(known)) {
      known.messages.push(...messages);
      return undefined;
    }
    const receivedAtNanos = this.#lastNanos;
    const mayHaveCopies = isSuspect || copiesSinceNanos !== undefined || known !== undefined;
    // A stream restored from a copy delivers again what was stored at its earlier time.
    const sentNanos = smaller(timeNanos, known ? storedSince(known.batch) : receivedAtNanos);
    const sinceNanos = smaller(copiesSinceNanos ?? sentNanos, sentNanos);
    const copies = {
      fromNanos: larger(sinceNanos - clockSlackNanos, 0n),
      untilNanos: receivedAtNanos + clockSlackNanos,
    };
    const batch = { ...decoded, receivedAtNanos, ...(mayHaveCopies && { copies }) };
    const held = { batch, isSuspect: mayHaveCopies, messages: [...messages] };
    this.#batches.set(key, held);
    return held;
  }

  #readChunk(message: QueuedMessage, chunk: Chunk): Omit<Assembled, 'droppedUploads'> {
    const { sequence, data } = message;
    const upload = this.#uploads.add(message, chunk);
    // Pieces come in order: the first one was acknowledged with the whole batch.
    if (upload === 'begun earlier') {
      return { batches: [], damage: [], spent: this.#forget([sequence]) };
    }
    if (upload === 'different count') {
      return this.#damaged(data, 'a chunk whose count differs from the others', [sequence]);
    }
    if (upload.missing > 0) return { batches: [], damage: [], spent: [] };
    const read = this.#readWhole(upload);
    if (read.damage.length > 0) return { ...read, spent: [] };
    return { ...read, spent: this.#forget(this.#uploads.dropOthers(chunk.upload)) };
  }

  #forget(messages: readonly number[]): readonly number[] {
    for (const sequence of messages) this.#parts.delete(sequence);
    return messages;
  }

  #readWhole(upload: Upload): Pick<Assembled, 'batches' | 'damage'> {
    const frame = Buffer.concat(upload.pieces.map((piece) => piece ?? Buffer.alloc(0)));
    const header = readFrameHeader(frame, 0);
    const fault = header?.length === frame.length ? findFault(frame, header) : 'no single frame';
    if (fault !== undefined) return this.#damaged(frame, fault, upload.messages);
    const held = this.#hold(frame, upload);
    return { batches: held === undefined ? [] : [held], damage: [] };
  }

  #damaged(bytes: Buffer, reason: string, messages: readonly number[]) {
    return { batches: [], damage: [{ bytes, reason, messages }], spent: [] };
  }
}

function findFault(frame: Buffer, header: FrameHeader | undefined): string | undefined {
  if (header === undefined) return 'not a frame';
  return isBodyIntact(frame, header) ? undefined : 'a frame with a wrong checksum';
}

function toKey({ id }: StampedBatch): string {
  return `${id.writer.toString(36)}.${id.sequence.toString(36)}`;
}

/** @returns Unix ns since when its rows may be stored, without `clockSlackNanos` */
export function storedSince({ copies, receivedAtNanos }: StampedBatch): bigint {
  return copies === undefined ? receivedAtNanos : copies.fromNanos + clockSlackNanos;
}
