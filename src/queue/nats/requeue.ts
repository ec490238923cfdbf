/** Publishes a frame that had been set aside once more. It knows nothing of quarantine. */
import { randomBase32 } from '../../std/random-id.ts';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import { decodeFrameHeader } from '../frame.ts';
import type { NatsLink } from './connection.ts';
import { headers, messageKinds, toBatchName, toMessageBytes } from './names.ts';
import { publish } from './publish.ts';
import { upload } from './upload.ts';

export interface Requeued {
  /** An intact one. */
  readonly frame: Buffer;
  /** Unix ms, since when rows of the batch may be stored. */
  readonly copiesSinceMs: number;
  /**
   * The one in which it lay. What is there several times, as where a writer was lost before it had
   * acknowledged what it set aside, is then held by one writer, which finds the first in the store
   * when the second comes.
   */
  readonly shard: number;
}

/**
 * Resolves once JetStream has all of it. Messages get ids of their own: by that of its batch NATS
 * may still know the one that was refused, and would pass over this one.
 * @throws PublishFault; it may come through all the same
 */
export async function requeue(
  link: NatsLink,
  telemetry: NatsEvents,
  { frame, copiesSinceMs, shard }: Requeued,
): Promise<void> {
  const { connection, names, options } = link;
  const target = { subject: names.subject(shard), stream: names.stream(shard) };
  const id = `${toBatchName(decodeFrameHeader(frame, 0))}.${randomBase32(26)}`;
  const sentMs = Date.now();
  const pieceBytes = toMessageBytes(connection.info?.max_payload);
  if (frame.length > pieceBytes) {
    const pieces = { frame, id, sentMs, copiesSinceMs };
    return upload(link, telemetry, { ...target, pieceBytes }, pieces);
  }
  const kind = { [headers.kind]: messageKinds.frames };
  const message = { ...target, body: frame, id, sentMs, copiesSinceMs, headers: kind };
  await publish(link, telemetry, message, options.timeoutMs);
}
