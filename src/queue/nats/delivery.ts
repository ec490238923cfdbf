/** What JetStream hands to a consumer, as plain values. Pure. */
import type { Msg } from '@nats-io/transport-node';
import type { QueuedMessage } from './assembler.ts';
import { headers, messageKinds } from './names.ts';
import type { Chunk } from './uploads.ts';

/** A message that was delivered; whether it is suspect is for the reader to say. */
export interface Delivery extends Omit<QueuedMessage, 'isSuspect'> {
  /** Where to acknowledge it. */
  readonly reply: string;
  /** Counts what one consumer has delivered, from 1: a gap is a delivery that was lost. */
  readonly consumerSequence: number;
  /** True where the same consumer has delivered it before. */
  readonly isRepeated: boolean;
}

const nanosPerMs = 1_000_000n;
/**
 * What comes so much later than it was sent may have been sent again since: less than NATS
 * remembers ids, and more than clocks of gateways are usually behind. Where one is, its batches are
 * looked for in the store without need.
 */
const lateNanos = 30_000_000_000n;

/**
 * Reads the reply subject as nats-server writes it (ADR-15 of NATS), with or without a domain:
 * `$JS.ACK[.<domain>.<account>].<stream>.<consumer>.<count>.<sequence>.<consumer sequence>.<time>.
 * <pending>[.<random>]`.
 * @returns undefined where it is no message of a stream, e.g. a status.
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
    kind: header(headers.kind) === '' ? messageKinds.frames : header(headers.kind),
    chunk: readChunk(header(headers.upload), header(headers.chunk)),
    copiesSinceNanos: readNumber(header(headers.copies)) ?? sinceOfLate(timeNanos, header),
    data: Buffer.from(data.buffer, data.byteOffset, data.length),
  };
}

function sinceOfLate(timeNanos: bigint, header: (name: string) => string): bigint | undefined {
  const sentMs = readNumber(header(headers.sent));
  if (sentMs === undefined) return undefined;
  const sentNanos = sentMs * nanosPerMs;
  return timeNanos - sentNanos > lateNanos ? sentNanos : undefined;
}

function readNumber(text: string): bigint | undefined {
  return /^\d+$/.test(text) ? BigInt(text) : undefined;
}

function readChunk(upload: string, number: string): Chunk | undefined {
  const found = /^(\d+)\/(\d+)$/.exec(number);
  if (found === null) return undefined;
  return { upload, index: Number(found[1]), count: Number(found[2]) };
}
