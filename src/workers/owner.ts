/**
 * The main process's side of one worker: answers its questions with the parts that exist only once
 * on a machine. What a worker held when it died is let go of here.
 */
import type { QuotaStore } from '../admission/port.ts';
import type { GrantSource, StatisticsStore } from '../directory/port.ts';
import type { Claims, HeldClaim } from '../ingest/ingest-replay.ts';
import { AppError } from '../model/errors.ts';
import type { IdempotencyRecord, Queue } from '../queue/port.ts';
import type { Answers } from './channel.ts';
import { type MainQuestions, type RecordText, toBytes, toText } from './questions.ts';

/** What there is once, for all workers of a machine. */
export interface OwnedParts {
  readonly queue: Pick<Queue, 'append'>;
  readonly claims: Claims;
  readonly quota: QuotaStore;
  readonly directory: GrantSource & StatisticsStore;
  /** Fixed words for what is not ready; empty = ready. */
  readonly missing: () => Promise<readonly string[]>;
  /** How often labels of series were said to be gone. */
  readonly forgotten: () => number;
}

export interface Owner {
  readonly answers: Answers<Omit<MainQuestions, 'begin' | 'ready' | 'failed' | 'ended' | 'abused'>>;
  /** Lets go of what the worker held, once it is gone. */
  release(): Promise<void>;
}

export function createOwner(parts: OwnedParts): Owner {
  const appending = createAppending(parts);
  const claiming = createClaiming(parts.claims);
  return {
    answers: {
      append: appending.append,
      claim: claiming.claim,
      settle: claiming.settle,
      ...quotaAnswers(parts.quota),
      ...directoryAnswers(parts.directory),
      missing: () => parts.missing(),
    },
    async release() {
      // Who repeats a request that is about to be durable must find it so.
      await appending.idle();
      claiming.release();
    },
  };
}

type OwnerAnswers = Owner['answers'];

function createAppending({ queue, forgotten }: OwnedParts) {
  const underWay = new Set<Promise<unknown>>();

  const append: OwnerAnswers['append'] = async (ask, payload) => {
    const { layout, rows, owner, record } = ask;
    if (layout === 'metrics/1' && ask.forgotten !== forgotten()) throw labelsGone();
    const appended = queue.append({ layout, rows, payload }, owner, toRecord(record));
    underWay.add(appended);
    try {
      const { first } = await appended;
      if (first === undefined) return null;
      return { bodyDigest: toText(first.bodyDigest), answer: toText(first.answer) };
    } finally {
      underWay.delete(appended);
    }
  };

  return { append, idle: () => Promise.allSettled(underWay) };
}

/** It was made before its worker could hear that labels it counts on are gone. */
function labelsGone(): AppError {
  return new AppError('unavailable', 'cannot take the request now: send it again', {
    retryAfterSeconds: 1,
  });
}

function toRecord(record: RecordText | null): IdempotencyRecord | undefined {
  if (record === null) return undefined;
  const { key, bodyDigest, answer } = record;
  return { key: toBytes(key), bodyDigest: toBytes(bodyDigest), answer: toBytes(answer) };
}

/** Claims by key: only one holds a key at a time. */
function createClaiming(claims: Claims) {
  const held = new Map<string, HeldClaim>();
  let isGone = false;

  const claim: OwnerAnswers['claim'] = async ({ accountId, key, bodyDigest }) => {
    const own = await claims.claim(accountId, toBytes(key), toBytes(bodyDigest));
    if (own.answer !== undefined) return toText(own.answer);
    if (isGone) own.settle();
    else held.set(key, own);
    return null;
  };

  const settle = (key: string) => {
    held.get(key)?.settle();
    held.delete(key);
  };

  const release = () => {
    isGone = true;
    for (const key of held.keys()) settle(key);
  };

  return { claim, settle, release };
}

function quotaAnswers(quota: QuotaStore): Pick<OwnerAnswers, 'take' | 'giveBack'> {
  return {
    async take({ buckets, events }) {
      const isTaken = await quota.take(buckets, events);
      return { isTaken, levels: buckets.map((bucket) => quota.level(bucket)) };
    },
    giveBack: ({ buckets, events }) => quota.giveBack(buckets, events),
  };
}

type DirectoryNames =
  | Extract<keyof OwnerAnswers, `find${string}` | `${string}Statistics`>
  | 'listStreams'
  | 'noteTokensUsed';

function directoryAnswers(directory: OwnedParts['directory']): Pick<OwnerAnswers, DirectoryNames> {
  return {
    async findToken(digest) {
      const grant = await directory.findToken(digest);
      return grant === undefined ? null : { ...grant, scopes: [...grant.scopes] };
    },
    findReceiver: async (receiverId) => (await directory.findReceiver(receiverId)) ?? null,
    listStreams: (accountId) => directory.listStreams(accountId),
    noteTokensUsed: (usedAtMs) => directory.noteTokensUsed(new Map(usedAtMs)),
    addStatistics: async (addition) => [...(await directory.addStatistics(addition))],
    findStatistics: ({ receiverId, span }) => directory.findStatistics(receiverId, span),
    pruneStatistics: (beforeMinute) => directory.pruneStatistics(beforeMinute),
  };
}
