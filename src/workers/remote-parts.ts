/** Ports of the main process as a worker calls them. The directory needs no adapter: `remote`. */
import type { KnownLevels, QuotaStore } from '../admission/port.ts';
import { transfer } from '../channel/channel.ts';
import type { Claims } from '../ingest/ingest-replay.ts';
import type { Queue } from '../queue/port.ts';
import type { MainChannel } from './methods.ts';

/** @param seriesEpoch as this worker knows it */
export function createRemoteQueue(
  main: MainChannel,
  seriesEpoch: () => number,
): Pick<Queue, 'append'> {
  return {
    append({ layout, rows, payload }, { accountId, streamId, receiverId }, idempotency) {
      const owner = { accountId, streamId, receiverId };
      const batch = { layout, rows, owner, idempotency, seriesEpoch: seriesEpoch() };
      return main.remote.append(batch, transfer(payload, [payload.buffer]));
    },
  };
}

/** Concurrent requests with one key wait for the first, whichever worker has it. */
export function createRemoteClaims(main: MainChannel): Claims {
  return {
    async claim(accountId, key, bodyDigest) {
      const answer = await main.remote.claim(accountId, key, bodyDigest);
      return { answer, settle: answer === undefined ? () => main.notify('settle', key) : () => {} };
    },
  };
}

/** @param known levels as of the last answers */
export function createRemoteQuota(main: MainChannel, known: KnownLevels): QuotaStore {
  return {
    level: (bucket) => known.level(bucket),
    async take(buckets, events) {
      const { isTaken, levels } = await main.remote.takeQuota(buckets, events);
      for (const [index, bucket] of buckets.entries()) known.note(bucket, levels[index] ?? 0);
      return isTaken;
    },
    giveBack: (buckets, events) => main.notify('giveBackQuota', buckets, events),
  };
}
