/**
 * The quarantine of a queue at NATS, for an operator, beside the nodes that run. One batch lies in
 * one message or in several, and may lie there twice where its writer was lost at the wrong moment.
 */
import type { Instruments } from '../../telemetry/instruments.ts';
import { createNatsEvents } from '../../telemetry/queue-events.ts';
import { isBodyIntact, readFrameHeader } from '../frame.ts';
import { notABatch, notSetAside, type Quarantine } from '../quarantine.ts';
import { openNatsLink } from './connection.ts';
import type { NatsQueueOptions } from './nats-options.ts';
import { type Kept, look } from './quarantine-look.ts';
import { createQuarantineMessages, type QuarantineMessages } from './quarantine-messages.ts';
import { requeue } from './requeue.ts';
import { messageOf } from '../../std/error-text.ts';

/**
 * @param purpose `change` also ends removals that were interrupted.
 * @throws Error in words for the operator where NATS cannot be reached.
 */
export async function openQuarantineStream(
  options: NatsQueueOptions,
  instruments: Instruments,
  purpose: 'look' | 'change',
): Promise<Quarantine> {
  const events = createNatsEvents(instruments);
  const link = await openNatsLink(options, events);
  const messages = createQuarantineMessages(link);
  /** By id, as of the last look, which reads all of the stream; without what was removed since. */
  let known = new Map<string, readonly Kept[]>();

  async function lookAnew(): Promise<void> {
    const found = await look(messages);
    const remains = found.filter(({ isRemains }) => isRemains);
    if (purpose === 'change') await remove(messages, remains);
    // Under the id of what is there no more than that there is nothing left to be done.
    known = new Map(remains.map(({ shown }) => [shown.id, []]));
    for (const kept of found.filter(({ isRemains }) => !isRemains)) {
      known.set(kept.shown.id, [...(known.get(kept.shown.id) ?? []), kept]);
    }
  }

  async function find(id: string): Promise<readonly Kept[]> {
    if (!known.has(id)) await lookAnew();
    const found = known.get(id);
    if (found === undefined) throw notSetAside(id);
    return found;
  }

  async function tryAgain(id: string, found: readonly [Kept, ...Kept[]]): Promise<void> {
    const frame = await readFrame(messages, id, found);
    const since = found.map(({ sinceNanos }) => sinceNanos).reduce((a, b) => (a < b ? a : b));
    const { shard } = found[0];
    try {
      await requeue(link, events, { frame, copiesSinceMs: Number(since / 1_000_000n), shard });
    } catch (cause) {
      const reason = messageOf(cause);
      throw new Error(`cannot retry ${id}: the queue does not take it (${reason})`, { cause });
    }
  }

  return {
    async list() {
      await lookAnew();
      return [...known.values()].flatMap(([first]) => (first === undefined ? [] : [first.shown]));
    },
    async retry(id) {
      const found = await find(id);
      known.delete(id);
      if (isAny(found)) await tryAgain(id, found);
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

function isAny(found: readonly Kept[]): found is readonly [Kept, ...Kept[]] {
  return found.length > 0;
}

/** @throws Error in words for the operator where none of them is a whole batch. */
async function readFrame(
  messages: QuarantineMessages,
  id: string,
  found: readonly Kept[],
): Promise<Buffer> {
  let isGone = false;
  for (const kept of found) {
    const bodies: Uint8Array[] = [];
    for (const sequence of kept.messages.slice(0, kept.pieces)) {
      const message = await messages.get(sequence);
      if (message !== null) bodies.push(message.data);
    }
    const frame = Buffer.concat(bodies);
    const header = readFrameHeader(frame, 0);
    if (header?.length === frame.length && isBodyIntact(frame, 0, header)) return frame;
    isGone ||= bodies.length < kept.pieces;
  }
  if (isGone) throw new Error(`cannot retry ${id}: it was retried or dropped meanwhile`);
  throw notABatch(id);
}

async function remove(messages: QuarantineMessages, found: readonly Kept[]): Promise<void> {
  const all = [...found.flatMap(({ heads }) => heads), ...found.flatMap((kept) => kept.messages)];
  // First pieces first: by them, what is left of an interrupted removal is told from a batch.
  for (const sequence of new Set(all)) await messages.remove(sequence);
}
