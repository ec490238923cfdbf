/**
 * Serves a connection of Fluent Forward: the shared key first, then messages. A message that asks
 * for it is acknowledged once it is durable; sent again, it is stored once.
 */
import { randomBytes } from 'node:crypto';
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
  const storeKnown = async ([...messages]: readonly Buffer[]) => {
    if (!isKnown) {
      const { pong, isAccepted } = format.answerPing(messages.shift()!, nonce, sharedKey!);
      socket.write(pong);
      if (!isAccepted) throw new AppError('unauthenticated', 'cannot accept this shared key');
      isKnown = true;
    }
    await store(parts, { format, delivery }, messages, socket);
  };
  const options = { listener, framing: format, messageTimeoutMs, isGreeted, store: storeKnown };
  await serveFrames(socket, closing, options, parts);
}

/** Messages without a chunk are stored together, each other one alone. */
async function store(
  parts: DeliveryParts,
  { format, delivery }: Pick<ForwardOptions, 'format' | 'delivery'>,
  messages: readonly Buffer[],
  socket: Socket,
): Promise<void> {
  let plain: Buffer[] = [];
  for (const message of messages) {
    const chunk = format.chunkOf(message);
    if (chunk === undefined) {
      plain.push(message);
      continue;
    }
    if (plain.length > 0) await deliver(parts, delivery, plain, Buffer.concat);
    plain = [];
    const once = { ...delivery, idempotencyKey: toKey(chunk) };
    const isDone = await deliver(parts, once, [message], Buffer.concat);
    if (!isDone) return void socket.destroy();
    socket.write(format.encodeAck(chunk));
  }
  if (plain.length > 0) await deliver(parts, delivery, plain, Buffer.concat);
}

function toKey(chunk: string): string | undefined {
  return /^[\x21-\x7e]{8,200}$/.test(chunk) ? `forward:${chunk}` : undefined;
}
