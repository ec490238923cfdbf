/** The messages in a shard's stream: their headers, kinds and sizes, and how a delivery is read. */
import type { Msg } from '@nats-io/transport-node';
import type { BatchId } from '../../model/batch.ts';

export const headers = {
  /** What the body is: one of `messageKinds`. */
  kind: 'Weir-Kind',
  /** Chunk: `<index>/<count>`, from 0. */
  chunk: 'Weir-Chunk',
  /**
   * Chunk: the upload it belongs to, `<batch id>.<attempt>`. The bytes of two uploads of a batch
   * may differ; once one is complete, the others are not needed.
   */
  upload: 'Weir-Upload',
  /**
   * Set if the batches may be in the queue or the store already: decimal Unix ns since when, not
   * by the stream's clock. It holds for all frames of the message; a chunked batch has it if one of
   * its chunks does.
   */
  copies: 'Weir-Copies-Since',
  /** Quarantine: the shard that the batch was in. */
  shard: 'Weir-Shard',
  /**
   * Decimal Unix ms by the gateway's clock, not after the message was sent. If it arrives much
   * later, the gateway may have sent it again, and NATS may have forgotten the first id.
   */
  sent: 'Weir-Sent',
  /** Quarantine: why the batch is there. */
  reason: 'Weir-Reason',
} as const;

export const messageKinds = {
  /** Whole frames (see frame.ts), one after the other. */
  frames: 'frames',
  /**
   * A piece of one frame. The pieces of an upload come in order, other messages between them; each
   * is published when the previous one was acknowledged, the last within 30 s of the first. A piece
   * may come twice, the last one also after the upload is complete.
   */
  chunk: 'chunk',
  /** Empty; advances the time of the stream. */
  tick: 'tick',
} as const;

/** Largest body in a shard's stream, even if the server accepts larger ones. */
export const maxMessageBytes = 512 * 1024;
/** Part of the server's `max_payload` that is reserved for headers. */
export const headroomBytes = 4096;

/** @param maxPayload of the server; undefined = not known yet */
export function toMessageBytes(maxPayload = Number.POSITIVE_INFINITY): number {
  return Math.min(maxPayload - headroomBytes, maxMessageBytes);
}

/** The batch in message ids and upload names. */
export function toBatchName({ writer, sequence }: BatchId): string {
  return [writer, sequence].map((part) => part.toString(16).padStart(16, '0')).join('');
}

export interface Chunk {
  /** The same for all chunks of one frame. */
  readonly upload: string;
  readonly index: number;
  readonly count: number;
}

/** A message as the stream has it. */
export interface QueuedMessage {
  /** Its number in the stream. */
  readonly sequence: number;
  /** Unix ns by the clock of the stream. */
  readonly timeNanos: bigint;
  /** One of `messageKinds`, or one of a later version. */
  readonly kind: string;
  readonly chunk?: Chunk | undefined;
  /** Unix ns since when copies of its batches may be in the queue or the store. */
  readonly copiesSinceNanos?: bigint | undefined;
  /** True if it may have been stored before. */
  readonly isSuspect: boolean;
  readonly data: Buffer;
}

export interface Delivery extends Omit<QueuedMessage, 'isSuspect'> {
  /** Subject of its acknowledgement. */
  readonly reply: string;
  /** Counts the deliveries of one consumer from 1: a gap is a lost delivery. */
  readonly consumerSequence: number;
  /** True if the same consumer has delivered it before. */
  readonly isRepeated: boolean;
}

const nanosPerMs = 1_000_000n;
/**
 * A message that arrives so much later than it was sent may have been sent again since. Less than
 * the time for which NATS remembers ids, and more than clocks of gateways usually differ by; if one
 * differs by more, its batches are looked up in the store without need.
 */
const lateNanos = 30_000_000_000n;

/**
 * Reads the reply subject as nats-server writes it (ADR-15 of NATS), with or without a domain:
 * `$JS.ACK[.<domain>.<account>].<stream>.<consumer>.<count>.<sequence>.<consumer sequence>.<time>.
 * <pending>[.<random>]`.
 * @returns undefined if it is no message of a stream, e.g. a status
 */
export function readDelivery(message: Msg): Delivery | undefined {
  const reply = message.reply ?? '';
  const tokens = reply.split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return undefined;
  const at = tokens.length === 9 ? 4 : 6;
  const [count, sequence, consumerSequence, time] = tokens.slice(at, at + 4);
  const { data } = message;
  const header = (name: string) => message.headers?.get(name) ?? '';
  const timeNanos = BigInt(time ?? 0);
  return {
    reply,
    sequence: Number(sequence),
    consumerSequence: Number(consumerSequence),
    timeNanos,
    isRepeated: count !== '1',
    kind: header(headers.kind) || messageKinds.frames,
    chunk: readChunk(header(headers.upload), header(headers.chunk)),
    copiesSinceNanos: readNumber(header(headers.copies)) ?? sentIfLate(timeNanos, header),
    data: Buffer.from(data.buffer, data.byteOffset, data.length),
  };
}

function sentIfLate(timeNanos: bigint, header: (name: string) => string): bigint | undefined {
  const sentMs = readNumber(header(headers.sent));
  if (sentMs === undefined) return undefined;
  const sentNanos = sentMs * nanosPerMs;
  return timeNanos - sentNanos > lateNanos ? sentNanos : undefined;
}

function readNumber(text: string): bigint | undefined {
  return /^\d+$/.test(text) ? BigInt(text) : undefined;
}

export function readChunk(upload: string, number: string): Chunk | undefined {
  const found = /^(\d+)\/(\d+)$/.exec(number);
  if (found === null) return undefined;
  return { upload, index: Number(found[1]), count: Number(found[2]) };
}
