/**
 * Serves a connection of Fluent Forward: the shared key first, then messages. A message that asks
 * for it is acknowledged once it is durable; sent again, it is stored once.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { AppError } from '../model/errors.ts';
import { deliver, type Delivery, type DeliveryParts } from './deliver.ts';
import { type FrameReader, serveFrames } from './serve-frames.ts';

/** The wire format, which the caller knows. */
export interface ForwardFormat {
  open(): FrameReader;
  encodeHelo(nonce: Buffer): Buffer;
  answerPing(
    message: Buffer,
    nonce: Buffer,
    sharedKey: string,
  ): {
    readonly pong: Buffer;
    readonly isAccepted: boolean;
  };
  chunkOf(message: Buffer): string | undefined;
  encodeAck(chunk: string): Buffer;
}

export interface ForwardOptions {
  readonly format: ForwardFormat;
  readonly delivery: Delivery;
  /** Undefined = none is required. */
  readonly sharedKey: string | undefined;
  readonly messageTimeoutMs: number;
}

const nonceBytes = 16;

/** @throws AppError if the sender is refused; Error if the connection breaks */
export async function serveForward(
  socket: Socket,
  closing: AbortSignal,
  { format, delivery, sharedKey, messageTimeoutMs }: ForwardOptions,
  parts: DeliveryParts,
): Promise<void> {
  const { listener } = delivery;
  const nonce = randomBytes(nonceBytes);
  let isKnown = sharedKey === undefined;
  const isGreeted = !isKnown;
  if (isGreeted) socket.write(format.encodeHelo(nonce));
  const reply = (bytes: Buffer) =>
    send(socket, bytes, { closing, listener, messageTimeoutMs, events: parts.events });
  const storeKnown = async ([...messages]: readonly Buffer[]) => {
    if (!isKnown) {
      const { pong, isAccepted } = format.answerPing(messages.shift()!, nonce, sharedKey!);
      socket.write(pong);
      if (!isAccepted) throw new AppError('unauthenticated', 'cannot accept this shared key');
      isKnown = true;
    }
    await store(parts, { format, delivery, reply }, messages, socket);
  };
  const options = { listener, framing: format, messageTimeoutMs, isGreeted, store: storeKnown };
  await serveFrames(socket, closing, options, parts);
}

interface Storing extends Pick<ForwardOptions, 'format' | 'delivery'> {
  readonly reply: (bytes: Buffer) => Promise<void>;
}

/** Messages without a chunk are stored together, each other one alone. */
async function store(
  parts: DeliveryParts,
  { format, delivery, reply }: Storing,
  messages: readonly Buffer[],
  socket: Socket,
): Promise<void> {
  let plain: Buffer[] = [];
  const storePlain = async () => {
    const together = plain;
    plain = [];
    if (together.length > 0) await deliver(parts, delivery, together, Buffer.concat);
  };
  try {
    for (const message of messages) {
      const chunk = format.chunkOf(message);
      if (chunk === undefined) {
        plain.push(message);
        continue;
      }
      await storePlain();
      const once = { ...delivery, idempotencyKey: toKey(chunk, message) };
      const isDone = await deliver(parts, once, [message], Buffer.concat);
      if (!isDone) return void socket.destroy();
      await reply(format.encodeAck(chunk));
    }
  } finally {
    // Even if a later message cannot be read.
    await storePlain();
  }
}

interface SendOptions extends Pick<DeliveryParts, 'events'> {
  readonly closing: AbortSignal;
  readonly listener: string;
  readonly messageTimeoutMs: number;
}

/** Waits for a sender that does not read: its acknowledgements must not fill memory. */
async function send(
  socket: Socket,
  bytes: Buffer,
  { closing, listener, messageTimeoutMs, events }: SendOptions,
): Promise<void> {
  if (socket.destroyed || socket.write(bytes) || closing.aborted) return;
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const slow = setTimeout(() => {
    events.connectionCut(listener, 'timeout');
    socket.destroy();
  }, messageTimeoutMs);
  socket.once('drain', resolve).once('close', resolve);
  closing.addEventListener('abort', resolve);
  await promise;
  clearTimeout(slow);
  socket.off('drain', resolve).off('close', resolve);
  closing.removeEventListener('abort', resolve);
}

/** A shorter chunk may be a constant of its sender. */
const minChunkLength = 8;

/**
 * By the whole message: the chunk of Fluent Bit is a digest of the records, which is the same when
 * they are sent with two tags.
 */
function toKey({ length }: string, message: Buffer): string | undefined {
  if (length < minChunkLength) return undefined;
  return `forward:${createHash('sha256').update(message).digest('hex')}`;
}
