/**
 * The quarantine of a queue at NATS for an operator, while nodes run. A batch is one message or
 * several, and may be stored twice if its writer failed meanwhile.
 */
import type { StoredMsg } from '@nats-io/jetstream';
import { smaller } from '../../std/big-integers.ts';
import { AppError } from '../../model/errors.ts';
import { messageOf } from '../../std/error-text.ts';
import { randomBase32 } from '../../std/random-id.ts';
import type { Instruments } from '../../telemetry/instruments.ts';
import { createNatsEvents } from '../../telemetry/queue-events.ts';
import { decodeFrameHeader, isBodyIntact, readFrameHeader } from '../frame.ts';
import { notABatch, notInQuarantine, type Quarantine } from '../quarantine.ts';
import { type NatsLink, type NatsSettings, openNatsLink } from './connection.ts';
import { errorCodes, type FaultKind, hasCode, toPublishFault } from './faults.ts';
import { toBatchName } from './messages.ts';
import { publishFrames } from './publish.ts';
import { joinPieces, type Kept } from './quarantine-messages.ts';

/**
 * @param purpose `change` also completes interrupted removals
 * @throws Error for the operator if NATS cannot be reached
 */
export async function openQuarantineStream(
  settings: NatsSettings,
  instruments: Instruments,
  purpose: 'look' | 'change',
): Promise<Quarantine> {
  const events = createNatsEvents(instruments);
  const link = await openNatsLink(settings, events);
  const messages = createQuarantineMessages(link);
  /** By id, as of the last read of the stream; without what was removed since. */
  let known = new Map<string, readonly Kept[]>();

  async function refresh(): Promise<void> {
    const found = await joinPieces(messages.all());
    const remains = found.filter(({ isPartlyRemoved }) => isPartlyRemoved);
    if (purpose === 'change') await remove(messages, remains);
    // Nothing is left to do for a batch that was removed.
    known = new Map(remains.map(({ shown }) => [shown.id, []]));
    for (const kept of found.filter(({ isPartlyRemoved }) => !isPartlyRemoved)) {
      known.set(kept.shown.id, [...(known.get(kept.shown.id) ?? []), kept]);
    }
  }

  async function find(id: string): Promise<readonly Kept[]> {
    if (!known.has(id)) await refresh();
    const found = known.get(id);
    if (found === undefined) throw notInQuarantine(id);
    return found;
  }

  async function requeue(id: string, found: readonly Kept[], shard: number): Promise<void> {
    const frame = await readFrame(messages, id, found);
    const since = found.map(({ sinceNanos }) => sinceNanos).reduce((a, b) => smaller(a, b));
    // A new message id: NATS may still know that of the batch, and would drop the message.
    const name = `${toBatchName(decodeFrameHeader(frame, 0))}.${randomBase32(26)}`;
    // Its own shard: if the batch is in quarantine twice, one writer gets both.
    const frames = { shard, body: frame, id: name, sentMs: Date.now() };
    try {
      const copiesSinceMs = Number(since / 1_000_000n);
      await publishFrames(link, events, { ...frames, copiesSinceMs });
    } catch (cause) {
      const reason = messageOf(cause);
      throw new Error(`cannot retry ${id}: the queue does not take it (${reason})`, { cause });
    }
  }

  return {
    async list() {
      await refresh();
      return [...known.values()].flatMap(([first]) => (first === undefined ? [] : [first.shown]));
    },
    async retry(id) {
      const found = await find(id);
      known.delete(id);
      const [first] = found;
      if (first !== undefined) await requeue(id, found, first.shard);
      await remove(messages, found);
    },
    async drop(id) {
      const found = await find(id);
      known.delete(id);
      await remove(messages, found);
    },
    close: () => link.close(),
  };
}

/** As `Queue.dropQuarantined`. */
export async function dropQuarantined(
  link: NatsLink,
  streamId: string,
  untilNanos: bigint | undefined,
): Promise<void> {
  const messages = createQuarantineMessages(link);
  try {
    const dropped = (await joinPieces(messages.all())).filter((kept) => {
      const { shown, sinceNanos, isPartlyRemoved } = kept;
      const isOwned = shown.batch?.owner.streamId === streamId;
      // Remains do not tell their stream, and are of no use.
      return isPartlyRemoved || (isOwned && sinceNanos <= (untilNanos ?? sinceNanos));
    });
    await remove(messages, dropped);
  } catch (cause) {
    throw new AppError('unavailable', messageOf(cause), { cause, retryAfterSeconds: 2 });
  }
}

/** @throws Error for the operator if none of them is a whole batch */
async function readFrame(
  messages: QuarantineMessages,
  id: string,
  found: readonly Kept[],
): Promise<Buffer> {
  let isRemoved = false;
  for (const kept of found) {
    const bodies: Uint8Array[] = [];
    for (const sequence of kept.messages.slice(0, kept.pieces)) {
      const message = await messages.get(sequence);
      if (message !== null) bodies.push(message.data);
    }
    const frame = Buffer.concat(bodies);
    const header = readFrameHeader(frame, 0);
    if (header?.length === frame.length && isBodyIntact(frame, header)) return frame;
    isRemoved ||= bodies.length < kept.pieces;
  }
  if (isRemoved) throw new Error(`cannot retry ${id}: it was retried or dropped meanwhile`);
  throw notABatch(id);
}

async function remove(messages: QuarantineMessages, found: readonly Kept[]): Promise<void> {
  const all = [...found.flatMap(({ heads }) => heads), ...found.flatMap((kept) => kept.messages)];
  // First pieces first: without them, the rest is recognized as an interrupted removal.
  for (const sequence of new Set(all)) await messages.remove(sequence);
}

type QuarantineMessages = ReturnType<typeof createQuarantineMessages>;

/** Each method throws Error for the operator. */
export function createQuarantineMessages(link: NatsLink) {
  const { streams } = link.manager;
  const stream = link.names.quarantineStream;
  const get = (seq: number): Promise<StoredMsg | null> =>
    explained(link, streams.getMessage(stream, { seq }));

  return {
    /** All present messages, in order. */
    async *all(): AsyncGenerator<StoredMsg> {
      const { state } = await explained(link, streams.info(stream));
      if (state.messages === 0) return;
      for (let sequence = state.first_seq; sequence <= state.last_seq; sequence++) {
        const message = await get(sequence);
        if (message !== null) yield message;
      }
    },
    /** Null if it was removed. */
    get,
    /** Succeeds if the message was removed before. */
    async remove(sequence: number): Promise<void> {
      try {
        await streams.deleteMessage(stream, sequence, false);
      } catch (error) {
        if ((await get(sequence)) !== null) throw explain(link, error);
      }
    },
  };
}

async function explained<T>(link: NatsLink, response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (cause) {
    throw explain(link, cause);
  }
}

function explain({ names, settings }: NatsLink, cause: unknown): Error {
  const stream = names.quarantineStream;
  if (hasCode(cause, errorCodes.streamNotFound)) {
    const text = `cannot find the stream ${stream} at NATS: check queue.prefix`;
    return new Error(text, { cause });
  }
  const { kind, message } = toPublishFault(cause);
  const reasons: Partial<Record<FaultKind, string>> = {
    timeout: `NATS did not respond within ${settings.timeoutMs} ms`,
    no_stream: 'JetStream is not enabled at NATS, or not for this account',
  };
  return new Error(`cannot use the stream ${stream}: ${reasons[kind] ?? message}`, { cause });
}
