/**
 * Serves a connection that sends messages one after another without waiting for replies: reads as
 * fast as messages become durable, so that a sender feels the load of Weir as back-pressure.
 */
import type { Socket } from 'node:net';
import { AppError } from '../model/errors.ts';
import { type Binding, deliver, type Delivery, type DeliveryParts } from './deliver.ts';
import { maxAheadBytes, readAhead } from './read-ahead.ts';

/** Splits a connection into messages. */
export interface FrameReader {
  push(chunk: Buffer): Buffer[];
  /**
   * The last message if it has no other end than that of the connection.
   * @param isCut the sender has not ended the connection
   */
  end?(isCut: boolean): Buffer | undefined;
  /** Bytes of a message of which the end is missing. */
  readonly partialBytes: number;
  /** Why nothing after the messages can be read; absent = nothing can prevent it. */
  readonly fault?: AppError | undefined;
}

/** How messages of a protocol are framed. */
export interface Framing {
  open(): FrameReader;
  /** Messages as one body. */
  join(messages: readonly Buffer[]): Buffer;
  /** The token that a message carries; absent = the protocol has no place for one. */
  tokenOf?(message: Buffer): string | undefined;
}

export interface FramesOptions {
  readonly listener: string;
  readonly framing: Pick<Framing, 'open'>;
  /** A message that takes longer to arrive ends the connection. */
  readonly messageTimeoutMs: number;
  /** The sender was written to, and must answer in time. */
  readonly isGreeted?: boolean;
  /** What arrives meanwhile is read ahead. @throws AppError if the sender is refused */
  readonly store: (messages: readonly Buffer[]) => Promise<void> | void;
}

/** @throws AppError if the sender is refused, or too slow; Error if the connection breaks */
export async function serveFrames(
  socket: Socket,
  closing: AbortSignal,
  { listener, framing, messageTimeoutMs, isGreeted, store }: FramesOptions,
  parts: Pick<DeliveryParts, 'partials' | 'ahead' | 'events'>,
): Promise<void> {
  const reader = framing.open();
  const partial = parts.partials.open();
  const pieces = new Pieces();
  const slow = createDeadline(messageTimeoutMs, () => {
    parts.events.connectionCut(listener, 'timeout');
    socket.destroy();
  });
  try {
    if (isGreeted === true) slow.start();
    for await (const piece of pieces.of(readAhead(socket, closing, parts.ahead.open()))) {
      const messages = reader.push(piece);
      pieces.adapt(messages.length);
      if (messages.length > 0) {
        slow.stop();
        await store(messages);
      }
      if (reader.fault !== undefined) throw reader.fault;
      if (!partial.hold(reader.partialBytes)) {
        parts.events.connectionCut(listener, 'memory');
        return;
      }
      if (reader.partialBytes > 0) slow.start();
      else slow.stop();
    }
    const last = reader.end?.(!socket.readableEnded);
    if (last !== undefined) await store([last]);
  } finally {
    slow.stop();
    partial.release();
  }
}

/** A message takes a hundred bytes besides its own once it is split off. */
const mostMessages = 5000;
const firstPieceBytes = 64 * 1024;
const leastPieceBytes = 4 * 1024;

/** Divides what was read, so that short messages take little more memory than their bytes. */
class Pieces {
  #bytes = firstPieceBytes;

  async *of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        const piece = chunk.subarray(at, at + this.#bytes);
        at += piece.length;
        yield piece;
      }
    }
  }

  /** @param messages in the last piece */
  adapt(messages: number): void {
    if (messages > mostMessages) this.#bytes = Math.max(leastPieceBytes, this.#bytes / 2);
    else if (2 * messages <= mostMessages) this.#bytes = Math.min(maxAheadBytes, 2 * this.#bytes);
  }
}

export interface BatchOptions {
  readonly delivery: Omit<Delivery, 'binding'>;
  /** Undefined = a token in each message. */
  readonly receiverId: string | undefined;
  readonly maxMessagesPerBatch: number;
}

/** Stores messages in batches of one receiver. @throws AppError if the sender may not send */
export async function deliverBatches(
  parts: DeliveryParts,
  { delivery, receiverId, maxMessagesPerBatch }: BatchOptions,
  { join, tokenOf }: Framing,
  messages: readonly Buffer[],
): Promise<void> {
  for (let at = 0; at < messages.length; ) {
    const binding = bindingOf(messages[at]!, receiverId, tokenOf);
    let end = at + 1;
    while (
      end < messages.length &&
      end - at < maxMessagesPerBatch &&
      (receiverId !== undefined || tokenOf?.(messages[end]!) === binding.token)
    ) {
      end += 1;
    }
    await deliver(parts, { ...delivery, binding }, messages.slice(at, end), join);
    at = end;
  }
}

/** @throws AppError `unauthenticated` if neither is known */
export function bindingOf(
  message: Buffer,
  receiverId: string | undefined,
  tokenOf: Framing['tokenOf'],
): Binding {
  if (receiverId !== undefined) return { receiverId };
  const token = tokenOf?.(message);
  if (token !== undefined) return { token };
  throw new AppError(
    'unauthenticated',
    'cannot find the receiver of a message: set the receiver of the listener, send the token in ' +
      'the message, or use a client certificate',
  );
}

/** Runs from the first `start` to the next `stop`. */
function createDeadline(ms: number, onExpiry: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      timer ??= setTimeout(onExpiry, ms);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
