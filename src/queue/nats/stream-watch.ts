/**
 * Reads the state of all streams every second, for the queue's status and metrics, and notices
 * those that have lost messages.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamInfo } from '@nats-io/jetstream';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { errorCodes, hasCode } from './faults.ts';
import { whileConnected } from './publish.ts';

/** As of the last read. */
export interface StreamTotals {
  readonly bytes: number;
  /** Messages; small batches share one. */
  readonly batches: number;
  /** Unix ms of the oldest; undefined if there is none. */
  readonly oldestMs: number | undefined;
  readonly quarantinedBatches: number;
}

const readEveryMs = 1000;
/** Larger than any tick, smaller than any message with a batch. */
const tickBytes = 256;

const nothing = { bytes: 0, batches: 0, oldestMs: undefined, quarantinedBatches: 0 };

export interface StreamWatchParts {
  readonly link: NatsLink;
  /** Called with every read. */
  readonly alsoPoll: () => Promise<void>;
  readonly telemetry: Pick<NatsEvents, 'restoreFailed'>;
  /** Called when a stream is missing, as after a restart of servers with memory storage. */
  readonly restore: () => Promise<void>;
  /**
   * Called when a shard's stream was created again, or restored from an earlier copy: labels of
   * series may have been in the lost batches.
   */
  readonly contentLost: () => void;
}

export function watchStreams(parts: StreamWatchParts) {
  const { link, telemetry, alsoPoll, restore, contentLost } = parts;
  const closing = new AbortController();
  const closed = Promise.withResolvers<void>();
  let totals: StreamTotals = nothing;
  let known: readonly StreamInfo[] = [];

  async function read(): Promise<void> {
    try {
      await count();
    } catch (error) {
      const isMissing = hasCode(error, errorCodes.streamNotFound);
      // Closing does not wait for it.
      if (isMissing) await Promise.race([restored(), closed.promise]);
    }
  }

  async function restored(): Promise<void> {
    try {
      await restore();
    } catch (error) {
      if (!closing.signal.aborted) telemetry.restoreFailed(error);
    }
  }

  async function count(): Promise<void> {
    const { manager, names, settings } = link;
    const streams = Array.from({ length: settings.shards }, (_, shard) => names.stream(shard));
    // Not counted, but they may be missing too.
    const buckets = [names.leases, names.keys, names.signals].map((name) => `KV_${name}`);
    const streamInfo = (name: string) =>
      whileConnected(link.lost(), () => manager.streams.info(name));
    const [quarantine, ...others] = await Promise.all(
      [names.quarantineStream, ...streams, ...buckets].map(streamInfo),
    );
    const shards = others.slice(0, streams.length);
    totals = addUp(shards, quarantine);
    const earlier = known;
    known = shards;
    if (earlier.some((before, shard) => hasLost(before, shards[shard]!))) contentLost();
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      if (link.isConnected()) {
        // Appends report a failure; the next read follows soon.
        await Promise.allSettled([read(), alsoPoll()]);
        await sleep(readEveryMs, undefined, { signal: closing.signal }).catch(() => undefined);
      } else {
        await link.whenConnected(readEveryMs);
      }
    }
  }
  const running = run();

  return {
    totals: () => totals,
    async close() {
      closing.abort();
      closed.resolve();
      await running;
    },
  };
}

function hasLost(before: StreamInfo, now: StreamInfo): boolean {
  return before.created !== now.created || now.state.last_seq < before.state.last_seq;
}

function addUp(shards: readonly StreamInfo[], quarantine: StreamInfo | undefined): StreamTotals {
  let bytes = 0;
  let batches = 0;
  let oldestMs: number | undefined;
  for (const { state } of shards) {
    if (state.bytes <= state.messages * tickBytes) continue;
    bytes += state.bytes;
    batches += state.messages;
    const firstMs = Date.parse(state.first_ts);
    // Unknown after a server rebuilt its index.
    if (firstMs > 0) oldestMs = Math.min(oldestMs ?? firstMs, firstMs);
  }
  return { bytes, batches, oldestMs, quarantinedBatches: quarantine?.state.messages ?? 0 };
}
