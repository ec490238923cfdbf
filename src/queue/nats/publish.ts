/**
 * Publishes messages and frames until JetStream acknowledges them: retried under the same id, so
 * that JetStream stores each once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamPublishOptions, PubAck } from '@nats-io/jetstream';
import { headers as createHeaders } from '@nats-io/transport-node';
import { randomBase32 } from '../../std/random-id.ts';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { PublishFault, toPublishFault } from './faults.ts';
import { headers, messageKinds, toMessageBytes } from './messages.ts';

export interface Message {
  readonly subject: string;
  /** The stream that must store it. */
  readonly stream: string;
  readonly body: Uint8Array;
  /** JetStream stores one message for each id within the duplicate window. */
  readonly id: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Unix ms, taken before it was known whether its batches are new. */
  readonly sentMs?: number;
  /** Unix ms since when its batches may be stored already; undefined = they are new. */
  readonly copiesSinceMs?: number | undefined;
  /** The only connection (`NatsLink.lost`) that it may be sent over; default: any. */
  readonly over?: AbortSignal;
}

/** Batches as frames, sent under one id. */
export interface SentFrames extends Pick<Message, 'copiesSinceMs'> {
  readonly sentMs: number;
  readonly shard: number;
  readonly body: Buffer;
  readonly id: string;
}

interface Upload extends SentFrames {
  /** Message id of the last piece. */
  readonly lastId: string;
  readonly pieceBytes: number;
  readonly over: AbortSignal;
  readonly remainingMs: () => number;
}

const pauseMs = 50;
const maxPauseMs = 500;
const minAttemptMs = 50;
const attemptsInTime = 3;
/** Readers drop an upload that is incomplete a minute later (`uploadLifeNanos`). */
const maxUploadMs = 30_000;
const uploadPauseMs = 100;

/**
 * @param withinMs for all attempts together
 * @throws PublishFault of the last attempt
 */
export function publish(
  link: NatsLink,
  telemetry: NatsEvents,
  message: Message,
  withinMs: number,
): Promise<PubAck> {
  const firstAtMs = Date.now();
  let copiesSinceMs = message.copiesSinceMs;
  return retry(link, telemetry, withinMs, {
    attempt: (timeoutMs) => attempt(link, message, { timeoutMs, copiesSinceMs }),
    mayRetry({ kind }) {
      // It may be stored and drained, and a server that restarted since does not know its id.
      copiesSinceMs ??= firstAtMs;
      // A recreated stream may lack what was sent before over this connection.
      return message.over === undefined || !(message.over.aborted || kind === 'no_stream');
    },
  });
}

export interface Retried<T> {
  attempt(timeoutMs: number): Promise<T>;
  mayRetry?(fault: PublishFault): boolean;
}

/** Retries after transient faults. @throws PublishFault of the last attempt */
export async function retry<T>(
  link: NatsLink,
  telemetry: NatsEvents,
  withinMs: number,
  { attempt: tryOnce, mayRetry = () => true }: Retried<T>,
): Promise<T> {
  const startedAt = performance.now();
  const remainingMs = () => startedAt + withinMs - performance.now();
  for (let pause = pauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
    const timeoutMs = Math.max(minAttemptMs, Math.min(remainingMs(), withinMs / attemptsInTime));
    try {
      const result = await tryOnce(timeoutMs);
      telemetry.published((performance.now() - startedAt) / 1000);
      return result;
    } catch (error) {
      const fault = toPublishFault(error);
      telemetry.publishFailed(fault.kind);
      const canRetry = mayRetry(fault) && fault.isTransient;
      if (!canRetry || remainingMs() < pause + minAttemptMs) throw fault;
    }
    await sleep(pause);
    await link.whenConnected(remainingMs());
  }
}

async function attempt(
  link: NatsLink,
  message: Message,
  { timeoutMs, copiesSinceMs }: { timeoutMs: number; copiesSinceMs: number | undefined },
): Promise<PubAck> {
  const lost = message.over ?? link.lost();
  const header = createHeaders();
  for (const [name, value] of Object.entries(message.headers ?? {})) header.set(name, value);
  if (copiesSinceMs !== undefined) header.set(headers.copies, `${copiesSinceMs}000000`);
  if (message.sentMs !== undefined) header.set(headers.sent, `${message.sentMs}`);
  const options: Partial<JetStreamPublishOptions> = {
    timeout: timeoutMs,
    headers: header,
    msgID: message.id,
  };
  const ack = await whileConnected(lost, () =>
    link.js.publish(message.subject, message.body, options),
  );
  if (ack.stream === message.stream) return ack;
  throw new PublishFault('refused', `the stream ${ack.stream} takes ${message.subject}`);
}

/** Sends a request over the current connection; it fails at once when that is lost. */
export function whileConnected<T>(lost: AbortSignal, send: () => Promise<T>): Promise<T> {
  if (lost.aborted) return Promise.reject(disconnected());
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onLost = () => reject(disconnected());
  lost.addEventListener('abort', onLost, { once: true });
  send()
    .then(resolve, reject)
    .finally(() => lost.removeEventListener('abort', onLost));
  return promise;
}

function disconnected(): PublishFault {
  return new PublishFault('disconnected', 'not connected to NATS');
}

/**
 * Publishes frames as one message, or a single frame that is larger than a message in pieces.
 * @throws PublishFault; the batch may be stored anyway
 */
export async function publishFrames(
  link: NatsLink,
  telemetry: NatsEvents,
  frames: SentFrames,
): Promise<void> {
  const { names, connection, settings } = link;
  const { shard, body, id, sentMs, copiesSinceMs } = frames;
  const pieceBytes = toMessageBytes(connection.info?.max_payload);
  if (body.length > pieceBytes) return upload(link, telemetry, frames, pieceBytes);
  const target = { subject: names.subject(shard), stream: names.stream(shard) };
  const kind = { [headers.kind]: messageKinds.frames };
  const message = { ...target, body, id, sentMs, copiesSinceMs, headers: kind };
  await publish(link, telemetry, message, settings.timeoutMs);
}

/**
 * All pieces go over one connection: a server that was restored may lack the first ones. Starts
 * over where they are lost.
 */
async function upload(
  link: NatsLink,
  telemetry: NatsEvents,
  frames: SentFrames,
  pieceBytes: number,
): Promise<void> {
  const remainingMs = countDown(maxUploadMs);
  let retryMs: (() => number) | undefined;
  let { copiesSinceMs, id: lastId } = frames;
  for (;;) {
    const over = link.lost();
    try {
      return await sendPieces(link, telemetry, {
        ...frames,
        lastId,
        copiesSinceMs,
        pieceBytes,
        over,
        remainingMs,
      });
    } catch (error) {
      retryMs ??= countDown(Math.min(link.settings.timeoutMs, remainingMs()));
      const isInterrupted = over.aborted || toPublishFault(error).kind === 'no_stream';
      if (!isInterrupted || retryMs() <= 0) throw error;
      // The new stream may have the last piece alone, and know its id.
      if (!over.aborted) lastId = `${frames.id}.${randomBase32(26)}`;
    }
    // The previous attempt may have been completed anyway.
    copiesSinceMs ??= frames.sentMs;
    await sleep(uploadPauseMs);
    await link.whenConnected(Math.max(0, retryMs()));
  }
}

/** The last piece usually has the id of the batch, so that one upload of it is completed. */
async function sendPieces(
  link: NatsLink,
  telemetry: NatsEvents,
  { shard, body, id, lastId, copiesSinceMs, pieceBytes, over, remainingMs }: Upload,
): Promise<void> {
  const [subject, stream] = [link.names.subject(shard), link.names.stream(shard)];
  const count = Math.ceil(body.length / pieceBytes);
  const name = `${id}.${randomBase32(26)}`;
  let before = 0;
  for (let index = 0; index < count; index++) {
    failIfLate(remainingMs);
    const message = {
      subject,
      stream,
      body: body.subarray(index * pieceBytes, (index + 1) * pieceBytes),
      id: index === count - 1 ? lastId : `${name}.${index}`,
      sentMs: Date.now(),
      copiesSinceMs,
      over,
      headers: {
        [headers.kind]: messageKinds.chunk,
        [headers.upload]: name,
        [headers.chunk]: `${index}/${count}`,
      },
    };
    const withinMs = Math.min(remainingMs(), link.settings.timeoutMs);
    const { seq, duplicate } = await publish(link, telemetry, message, withinMs);
    if (seq <= before && !duplicate) {
      throw new PublishFault('no_stream', `the stream ${stream} was created again`);
    }
    before = seq;
  }
  // Readers may have dropped the earlier pieces if the last one was late.
  failIfLate(remainingMs);
}

function failIfLate(remainingMs: () => number): void {
  if (remainingMs() > 0) return;
  throw new PublishFault('timeout', 'a batch of several messages took 30 s');
}

/** Uses two clocks: one stops while the machine sleeps, the other can be set. */
function countDown(ms: number): () => number {
  const [startedAt, startedMs] = [performance.now(), Date.now()];
  return () => ms - Math.max(performance.now() - startedAt, Date.now() - startedMs);
}
