/**
 * Looks at the streams about every second, so that what waits in them, and for how long, is known
 * without asking.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, type StreamInfo } from '@nats-io/jetstream';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { errorCodes } from './error-codes.ts';
import { orLost } from './publish.ts';
import { untilAborted } from './until-aborted.ts';

/** What the streams held when they were last looked at. */
export interface StreamTotals {
  readonly bytes: number;
  /** Messages; small batches share one. */
  readonly batches: number;
  /** Unix ms of the oldest; undefined where there is none. */
  readonly oldestMs: number | undefined;
  readonly quarantinedBatches: number;
}

export interface StreamWatch {
  totals(): StreamTotals;
  close(): Promise<void>;
}

const lookEveryMs = 1000;
/** No message with a batch is that small, and no tick larger. */
const tickBytes = 256;

const nothing = { bytes: 0, batches: 0, oldestMs: undefined, quarantinedBatches: 0 };

export interface StreamWatchParts {
  readonly link: NatsLink;
  /** Called every time, and soon after a reconnect. */
  readonly alsoLook: () => Promise<void>;
  readonly telemetry: Pick<NatsEvents, 'restoreFailed'>;
  /** Called where a stream is gone, as after a restart of servers that keep them in memory. */
  readonly restore: () => Promise<void>;
}

export function watchStreams(parts: StreamWatchParts): StreamWatch {
  const { link, telemetry, alsoLook, restore } = parts;
  const closing = new AbortController();
  let totals: StreamTotals = nothing;

  async function look(): Promise<void> {
    try {
      await count();
    } catch (error) {
      const isGone = error instanceof JetStreamApiError && error.code === errorCodes.streamNotFound;
      if (isGone) await Promise.race([restored(), untilAborted([closing.signal])]);
    }
  }

  /** Where NATS finds no place for a stream, it takes far longer than a stop may. */
  async function restored(): Promise<void> {
    try {
      await restore();
    } catch (error) {
      if (!closing.signal.aborted) telemetry.restoreFailed(error);
    }
  }

  async function count(): Promise<void> {
    const { manager, names, options } = link;
    const streams = Array.from({ length: options.shards }, (_, shard) => names.stream(shard));
    // Nothing is counted in these, but they too may be gone.
    const buckets = [names.leases, names.keys, names.signals].map((name) => `KV_${name}`);
    const ask = (name: string) => orLost(manager.streams.info(name), link.present());
    const [quarantine, ...others] = await Promise.all(
      [names.quarantineStream, ...streams, ...buckets].map(ask),
    );
    totals = addUp(others.slice(0, streams.length), quarantine);
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      if (link.isConnected()) {
        // What fails now is seen when something is appended; the next look is soon.
        await Promise.allSettled([look(), alsoLook()]);
        await sleep(lookEveryMs, undefined, { signal: closing.signal }).catch(() => undefined);
      } else {
        await link.whenConnected(lookEveryMs);
      }
    }
  }
  const running = run();

  return {
    totals: () => totals,
    async close() {
      closing.abort();
      await running;
    },
  };
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
    // A server that rebuilt its index may tell no time.
    if (firstMs > 0) oldestMs = Math.min(oldestMs ?? firstMs, firstMs);
  }
  return { bytes, batches, oldestMs, quarantinedBatches: quarantine?.state.messages ?? 0 };
}
