/**
 * The messages of the quarantine's stream, one by one; why NATS says no comes in words for the
 * operator. It knows nothing of what they hold.
 */
import { JetStreamApiError, type StoredMsg } from '@nats-io/jetstream';
import type { NatsLink } from './connection.ts';
import { errorCodes } from './error-codes.ts';
import { type FaultKind, toPublishFault } from './publish-fault.ts';

/** Each throws Error in words for the operator. */
export interface QuarantineMessages {
  /** All that are there by now, in the order in which they came. */
  all(): AsyncGenerator<StoredMsg>;
  /** Null where it is gone. */
  get(sequence: number): Promise<StoredMsg | null>;
  /** That it is gone already is no error: others may remove the same. */
  remove(sequence: number): Promise<void>;
}

export function createQuarantineMessages(link: NatsLink): QuarantineMessages {
  const { streams } = link.manager;
  const stream = link.names.quarantineStream;
  const get = (seq: number) => inWords(link, streams.getMessage(stream, { seq }));

  return {
    async *all() {
      const { state } = await inWords(link, streams.info(stream));
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
        if ((await get(sequence)) !== null) throw toWords(link, error);
      }
    },
  };
}

async function inWords<T>(link: NatsLink, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw toWords(link, cause);
  }
}

function toWords({ names, options }: NatsLink, cause: unknown): Error {
  const stream = names.quarantineStream;
  if (cause instanceof JetStreamApiError && cause.code === errorCodes.streamNotFound) {
    const words = `cannot find the stream ${stream} at NATS: is queue.prefix right?`;
    return new Error(words, { cause });
  }
  const { kind, message } = toPublishFault(cause);
  const reasons: Partial<Record<FaultKind, string>> = {
    timeout: `NATS did not answer within ${options.timeoutMs} ms`,
    no_stream: 'JetStream is not enabled at NATS, or not for this account',
  };
  return new Error(`cannot use the stream ${stream}: ${reasons[kind] ?? message}`, { cause });
}
