/** The messages of the quarantine's stream, as a writer stores them and an operator reads them. */
import type { StoredMsg } from '@nats-io/jetstream';
import { headers as createHeaders } from '@nats-io/transport-node';
import type { StampedBatch } from '../../model/batch.ts';
import { randomBase32 } from '../../std/random-id.ts';
import { encodeFrame, finishFrame, measureFrame } from '../frame.ts';
import { storedSince } from './assembler.ts';
import type { NatsLink } from './connection.ts';
import { errorCodes, type FaultKind, hasCode, toPublishFault } from './faults.ts';
import { headers, headroomBytes, messageKinds } from './messages.ts';

export interface Quarantined {
  /** The same in all pieces. */
  readonly id: string;
  /** The shard that it was in. */
  readonly shard: number;
  readonly bytes: Buffer;
  readonly reason: string;
}

const maxReasonLength = 1000;

/**
 * Stores bytes in quarantine, durably. After a lost answer they may be there twice: with a stable
 * message id, NATS would also drop a batch that had been retried meanwhile.
 * @throws Error if JetStream did not acknowledge all of it
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
 * The frame's time is that since when rows of the batch may be stored: a retry looks them up from
 * then on. The id contains the time of receipt, so that a batch that is set aside again after a
 * retry is not joined with its earlier pieces.
 */
export function toQuarantined(batch: StampedBatch, shard: number, reason: string): Quarantined {
  const { id, receivedAtNanos } = batch;
  const bytes = Buffer.from(new ArrayBuffer(measureFrame(batch)));
  encodeFrame(bytes, 0, { ...batch, receivedAtNanos: storedSince(batch) });
  finishFrame(bytes, 0, 0);
  const name = `${id.writer.toString(16)}-${id.sequence}-${receivedAtNanos}`;
  return { id: name, shard, bytes, reason };
}

/** One line of bounded length. */
function toHeaderText(reason: string): string {
  return reason
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, maxReasonLength)
    .trim();
}

/** Each throws Error for the operator. */
export interface QuarantineMessages {
  /** All present messages, in order. */
  all(): AsyncGenerator<StoredMsg>;
  /** Null if it is gone. */
  get(sequence: number): Promise<StoredMsg | null>;
  /** Succeeds if the message is gone. */
  remove(sequence: number): Promise<void>;
}

export function createQuarantineMessages(link: NatsLink): QuarantineMessages {
  const { streams } = link.manager;
  const stream = link.names.quarantineStream;
  const get = (seq: number) => explained(link, streams.getMessage(stream, { seq }));

  return {
    async *all() {
      const { state } = await explained(link, streams.info(stream));
      if (state.messages === 0) return;
      for (let sequence = state.first_seq; sequence <= state.last_seq; sequence++) {
        const message = await get(sequence);
        if (message !== null) yield message;
      }
    },
    get,
    async remove(sequence) {
      try {
        await streams.deleteMessage(stream, sequence, false);
      } catch (error) {
        if ((await get(sequence)) !== null) throw explain(link, error);
      }
    },
  };
}

async function explained<T>(link: NatsLink, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw explain(link, cause);
  }
}

function explain({ names, settings }: NatsLink, cause: unknown): Error {
  const stream = names.quarantineStream;
  if (hasCode(cause, errorCodes.streamNotFound)) {
    const text = `cannot find the stream ${stream} at NATS: is queue.prefix right?`;
    return new Error(text, { cause });
  }
  const { kind, message } = toPublishFault(cause);
  const reasons: Partial<Record<FaultKind, string>> = {
    timeout: `NATS did not answer within ${settings.timeoutMs} ms`,
    no_stream: 'JetStream is not enabled at NATS, or not for this account',
  };
  return new Error(`cannot use the stream ${stream}: ${reasons[kind] ?? message}`, { cause });
}
