/** Sets bytes aside in the quarantine's stream, with the reason, durably before it returns. */
import { headers as createHeaders } from '@nats-io/transport-node';
import type { StampedBatch } from '../../model/batch.ts';
import { randomBase32 } from '../../std/random-id.ts';
import { encodeFrame, finishFrame, measureFrame } from '../frame.ts';
import { storedSince } from './assembler.ts';
import type { NatsLink } from './connection.ts';
import { headers, headroomBytes, messageKinds } from './names.ts';

export interface Quarantined {
  /** What the pieces of it have in common. */
  readonly id: string;
  /** In which it lay. */
  readonly shard: number;
  readonly bytes: Buffer;
  readonly reason: string;
}

const maxReasonLength = 1000;

/**
 * What is set aside again, as after an answer that was lost, lies there twice: by an id that it had
 * before, NATS would pass over it, also where it was retried and removed meanwhile.
 * @throws Error where JetStream did not acknowledge all of it.
 */
export async function setAside(link: NatsLink, quarantined: Quarantined): Promise<void> {
  const { id, shard, bytes, reason } = quarantined;
  const chunkBytes = (link.connection.info?.max_payload ?? 1_048_576) - headroomBytes;
  const count = Math.max(1, Math.ceil(bytes.length / chunkBytes));
  const attempt = randomBase32(26);
  for (let index = 0; index < count; index++) {
    const piece = bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
    const head = createHeaders();
    head.set(headers.kind, count === 1 ? messageKinds.frames : messageKinds.chunk);
    head.set(headers.reason, toHeaderText(reason));
    head.set(headers.shard, String(shard));
    if (count > 1) {
      head.set(headers.upload, id);
      head.set(headers.chunk, `${index}/${count}`);
    }
    const msgID = `${attempt}/${index}`;
    await link.js.publish(link.names.quarantineSubject, piece, { msgID, headers: head });
  }
}

/**
 * The frame's time is that since when rows of the batch may be stored: from there on they are
 * looked for when it is retried. The name has the time of receipt, so that pieces of what was
 * retried and comes back are not taken for those that lay there before.
 */
export function toQuarantined(batch: StampedBatch, shard: number, reason: string): Quarantined {
  const { id, receivedAtNanos } = batch;
  const bytes = Buffer.from(new ArrayBuffer(measureFrame(batch)));
  encodeFrame(bytes, 0, { ...batch, receivedAtNanos: storedSince(batch) });
  finishFrame(bytes, 0, 0);
  const name = `${id.writer.toString(16)}-${id.sequence}-${receivedAtNanos}`;
  return { id: name, shard, bytes, reason };
}

/** Headers are lines, and their room is bounded. */
function toHeaderText(reason: string): string {
  return reason
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, maxReasonLength)
    .trim();
}
