/**
 * Publishes a batch that is too large for one message, in pieces, so that what is acknowledged is
 * there whole: whatever may have taken pieces away makes it begin anew.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBase32 } from '../../std/random-id.ts';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { headers, messageKinds } from './names.ts';
import { type Message, publish } from './publish.ts';
import { PublishFault, toPublishFault } from './publish-fault.ts';

export interface UploadTarget extends Pick<Message, 'subject' | 'stream'> {
  readonly pieceBytes: number;
}

/** As in `Message`. */
export interface UploadedFrame {
  readonly frame: Buffer;
  readonly id: string;
  readonly sentMs: number;
  readonly copiesSinceMs: number | undefined;
}

interface Attempt extends Omit<UploadedFrame, 'sentMs'> {
  /** Of the last piece. */
  readonly lastId: string;
  /** The connection that all of it goes over. */
  readonly over: AbortSignal;
  readonly leftMs: () => number;
}

/** Writers give up on what is not complete a minute later (`uploadLifeNanos`). */
const maxUploadMs = 30_000;
const pauseMs = 100;

/** @throws PublishFault the last one */
export async function upload(
  link: NatsLink,
  telemetry: NatsEvents,
  target: UploadTarget,
  { frame, id, sentMs, copiesSinceMs }: UploadedFrame,
): Promise<void> {
  const leftMs = countDown(maxUploadMs);
  let patienceMs: (() => number) | undefined;
  let sinceMs = copiesSinceMs;
  let lastId = id;
  for (;;) {
    const over = link.present();
    try {
      const attempt = { frame, id, lastId, copiesSinceMs: sinceMs, over, leftMs };
      return await sendPieces(link, telemetry, target, attempt);
    } catch (error) {
      const fault = toPublishFault(error);
      patienceMs ??= countDown(Math.min(link.options.timeoutMs, leftMs()));
      const isTorn = over.aborted || fault.kind === 'no_stream';
      if (!isTorn || patienceMs() <= 0) throw fault;
      // The last piece may lie in the new stream alone, and NATS know its id.
      if (!over.aborted) lastId = `${id}.${randomBase32(26)}`;
    }
    // The attempt before may have been completed all the same.
    sinceMs ??= sentMs;
    await sleep(pauseMs);
    await link.whenConnected(Math.max(0, patienceMs()));
  }
}

/**
 * One piece after the other, so that they lie in order, over one connection: a server that came
 * back without its last messages has lost some that it had acknowledged. The last piece carries the
 * batch's id, so that no second attempt is completed while NATS remembers it.
 */
async function sendPieces(
  link: NatsLink,
  telemetry: NatsEvents,
  { subject, stream, pieceBytes }: UploadTarget,
  { frame, id, lastId, copiesSinceMs, over, leftMs }: Attempt,
): Promise<void> {
  const count = Math.ceil(frame.length / pieceBytes);
  const name = `${id}.${randomBase32(26)}`;
  let before = 0;
  for (let index = 0; index < count; index++) {
    refuseLate(leftMs);
    const message = {
      subject,
      stream,
      body: frame.subarray(index * pieceBytes, (index + 1) * pieceBytes),
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
    const withinMs = Math.min(leftMs(), link.options.timeoutMs);
    const { seq, duplicate } = await publish(link, telemetry, message, withinMs);
    if (seq <= before && !duplicate) {
      throw new PublishFault('no_stream', `the stream ${stream} has lost what it had taken`);
    }
    before = seq;
  }
  // A last piece that came after its writer gave the others up completes nothing.
  refuseLate(leftMs);
}

function refuseLate(leftMs: () => number): void {
  if (leftMs() > 0) return;
  throw new PublishFault('timeout', 'a batch of several messages took 30 s');
}

/** By both clocks: one stands still while the machine does, the other can be set. */
function countDown(ms: number): () => number {
  const [startedAt, startedMs] = [performance.now(), Date.now()];
  return () => ms - Math.max(performance.now() - startedAt, Date.now() - startedMs);
}
