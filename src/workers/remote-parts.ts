/**
 * The parts of the main process as a worker has them: the same ports, each call a question over the
 * channel. What may be answered without asking is for the caches above them.
 */
import type { KnownLevels, QuotaStore } from '../admission/port.ts';
import type { GrantSource, StatisticsStore } from '../directory/port.ts';
import type { Claims } from '../ingest/ingest-replay.ts';
import type { IdempotencyRecord, Queue } from '../queue/port.ts';
import type { Channel } from './channel.ts';
import { type MainQuestions, type RecordText, toBytes, toText } from './questions.ts';

export type MainChannel = Channel<MainQuestions>;

/** @param forgotten how often this process has heard that labels of series are gone. */
export function createRemoteQueue(
  main: MainChannel,
  forgotten: () => number,
): Pick<Queue, 'append'> {
  return {
    async append({ layout, rows, payload }, owner, idempotency) {
      const { accountId, streamId, receiverId } = owner;
      const record = toRecordText(idempotency);
      const asked = { layout, rows, owner: { accountId, streamId, receiverId }, record };
      const first = await main.ask('append', { ...asked, forgotten: forgotten() }, payload);
      if (first === null) return {};
      const { bodyDigest, answer } = first;
      return { first: { bodyDigest: toBytes(bodyDigest), answer: toBytes(answer) } };
    },
  };
}

function toRecordText(record: IdempotencyRecord | undefined): RecordText | null {
  if (record === undefined) return null;
  const { key, bodyDigest, answer } = record;
  return { key: toText(key), bodyDigest: toText(bodyDigest), answer: toText(answer) };
}

/** Of all requests to the machine with one key, one is taken, whichever worker it comes to. */
export function createRemoteClaims(main: MainChannel): Claims {
  return {
    async claim(accountId, keyBytes, bodyDigest) {
      const key = toText(keyBytes);
      const answer = await main.ask('claim', { accountId, key, bodyDigest: toText(bodyDigest) });
      if (answer !== null) return { answer: toBytes(answer), settle: () => {} };
      return { answer: undefined, settle: () => main.tell('settle', key) };
    },
  };
}

/** @param known what is remembered of levels between two answers. */
export function createRemoteQuota(main: MainChannel, known: KnownLevels): QuotaStore {
  return {
    level: (bucket) => known.level(bucket),
    async take(buckets, events) {
      const { isTaken, levels } = await main.ask('take', { buckets, events });
      for (const [index, bucket] of buckets.entries()) known.note(bucket, levels[index] ?? 0);
      return isTaken;
    },
    giveBack: (buckets, events) => main.tell('giveBack', { buckets, events }),
  };
}

export function createRemoteDirectory(main: MainChannel): GrantSource & StatisticsStore {
  return {
    async findToken(digest) {
      const grant = await main.ask('findToken', digest);
      return grant === null ? undefined : { ...grant, scopes: new Set(grant.scopes) };
    },
    findReceiver: async (receiverId) => (await main.ask('findReceiver', receiverId)) ?? undefined,
    listStreams: (accountId) => main.ask('listStreams', accountId),
    noteTokensUsed: (usedAtMs) => main.ask('noteTokensUsed', [...usedAtMs]),
    addStatistics: async (addition) => new Set(await main.ask('addStatistics', addition)),
    findStatistics: (receiverId, span) => main.ask('findStatistics', { receiverId, span }),
    pruneStatistics: (beforeMinute) => main.ask('pruneStatistics', beforeMinute),
  };
}
