/** Statistics of receivers in the directory's database. */
import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import {
  maxReceiverSamples,
  minuteMs,
  type MinuteSpan,
  type ReceiverActivity,
  type ReceiverSample,
  type StatisticsAddition,
} from '../model/receiver-statistics.ts';
import { type Database, type Db, inLockOrder, type Tables, type Tx } from './database.ts';
import type { StatisticsStore } from './port.ts';

/** Keeps a statement below the maximum number of parameters of a database. */
const rowsPerStatement = 100;

export function createStatisticsQueries(database: Database): StatisticsStore {
  // A random start, so that concurrent processes do not write the same numbers.
  let nextSeq = randomInt(2 ** 40);
  return {
    addStatistics: (addition) =>
      database.writeConcurrently(async (tx) => {
        const known = await selectKnownReceivers(tx, addition);
        const isKnown = ({ receiverId }: { receiverId: string }) => known.has(receiverId);
        await addMinutes(tx, inLockOrder(addition.minutes.filter(isKnown), keyOfRow));
        await addReasons(tx, inLockOrder(addition.reasons.filter(isKnown), keyOfRow));
        const samples = addition.samples.filter(isKnown);
        await addSamples(tx, samples, nextSeq);
        nextSeq += samples.length;
        await noteActivities(tx, inLockOrder(addition.activities.filter(isKnown), keyOfRow));
        return known;
      }),

    findStatistics: async (receiverId, span) => {
      const minutes = await database.read((db) => findMinutes(db, receiverId, span));
      const reasons = await database.read((db) => findReasons(db, receiverId, span));
      const samples = await database.read((db) => findSamples(db, receiverId));
      const activity = await database.read((db) => findActivity(db, receiverId));
      return { minutes, reasons, samples, ...activity };
    },

    pruneStatistics: async (beforeMinute) => {
      for (const table of ['receiverMinutes', 'receiverReasons'] as const) {
        const prune = () =>
          database.writeConcurrently((tx) => pruneOldest(tx, table, beforeMinute));
        while (await prune()) await setImmediate();
      }
      const before = new Date(beforeMinute * minuteMs).toISOString();
      await database.writeConcurrently((tx) =>
        tx.deleteFrom('receiverSamples').where('at', '<', before).execute(),
      );
    },
  };
}

/** Keeps the deletion of a long backlog below the time limit of one statement. */
const minutesPerStatement = 10;

/** @returns whether a row was old enough. */
async function pruneOldest(
  tx: Tx,
  table: 'receiverMinutes' | 'receiverReasons',
  beforeMinute: number,
): Promise<boolean> {
  const { oldest } = await tx
    .selectFrom(table)
    .select((select) => select.fn.min<number | null>('minute').as('oldest'))
    .executeTakeFirstOrThrow();
  if (oldest === null || oldest >= beforeMinute) return false;
  const until = Math.min(oldest + minutesPerStatement, beforeMinute);
  await tx.deleteFrom(table).where('minute', '<', until).execute();
  return true;
}

function keyOfRow(row: {
  readonly receiverId: string;
  readonly minute?: number;
  readonly kind?: string;
  readonly reason?: string;
}): string {
  return [row.receiverId, row.minute, row.kind, row.reason].join(' ');
}

async function selectKnownReceivers(
  tx: Tx,
  { minutes, activities }: StatisticsAddition,
): Promise<Set<string>> {
  const ids = new Set([...minutes, ...activities].map(({ receiverId }) => receiverId));
  const known = new Set<string>();
  for await (const chunk of inChunks([...ids])) {
    const rows = await tx
      .selectFrom('receivers')
      .select('receiverId')
      .where('receiverId', 'in', chunk)
      .execute();
    for (const row of rows) known.add(row.receiverId);
  }
  return known;
}

async function addMinutes(tx: Tx, minutes: StatisticsAddition['minutes']): Promise<void> {
  for await (const chunk of inChunks(minutes)) {
    await tx
      .insertInto('receiverMinutes')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.columns(['receiverId', 'minute']).doUpdateSet((row) => ({
          requests: row('receiverMinutes.requests', '+', row.ref('excluded.requests')),
          refused: row('receiverMinutes.refused', '+', row.ref('excluded.refused')),
          accepted: row('receiverMinutes.accepted', '+', row.ref('excluded.accepted')),
          rejected: row('receiverMinutes.rejected', '+', row.ref('excluded.rejected')),
          bytes: row('receiverMinutes.bytes', '+', row.ref('excluded.bytes')),
        })),
      )
      .execute();
  }
}

async function addReasons(tx: Tx, reasons: StatisticsAddition['reasons']): Promise<void> {
  for await (const chunk of inChunks(reasons)) {
    await tx
      .insertInto('receiverReasons')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.columns(['receiverId', 'minute', 'kind', 'reason']).doUpdateSet((row) => ({
          count: row('receiverReasons.count', '+', row.ref('excluded.count')),
        })),
      )
      .execute();
  }
}

/** Keeps the newest samples of each receiver. */
async function addSamples(
  tx: Tx,
  samples: StatisticsAddition['samples'],
  firstSeq: number,
): Promise<void> {
  const rows = samples.map(({ receiverId, ...sample }, index) => ({
    receiverId,
    at: sample.at,
    seq: firstSeq + index,
    sample: JSON.stringify(sample),
  }));
  for await (const chunk of inChunks(rows)) {
    await tx.insertInto('receiverSamples').values(chunk).execute();
  }
  const receiverIds = new Set(samples.map(({ receiverId }) => receiverId));
  for await (const chunk of inChunks([...receiverIds].sort())) {
    for (const receiverId of chunk) {
      await tx
        .deleteFrom('receiverSamples')
        .where('receiverId', '=', receiverId)
        .where('seq', 'not in', newestSamples(tx, receiverId).select('seq'))
        .execute();
    }
  }
}

function newestSamples(db: Db, receiverId: string) {
  return db
    .selectFrom('receiverSamples')
    .where('receiverId', '=', receiverId)
    .orderBy('at', 'desc')
    .orderBy('seq', 'desc')
    .limit(maxReceiverSamples);
}

/** Keeps the later of the stored and the new time. */
async function noteActivities(tx: Tx, activities: StatisticsAddition['activities']): Promise<void> {
  const rows = activities.flatMap(toActivityRows);
  for await (const chunk of inChunks(rows)) {
    await tx
      .insertInto('receiverActivity')
      .values(chunk)
      .onConflict((conflict) =>
        conflict
          .columns(['receiverId', 'kind'])
          .doUpdateSet((row) => ({ at: row.ref('excluded.at') }))
          .whereRef('excluded.at', '>', 'receiverActivity.at'),
      )
      .execute();
  }
}

function toActivityRows({
  receiverId,
  lastSeenAt,
  lastAcceptedAt,
}: StatisticsAddition['activities'][number]): Tables['receiverActivity'][] {
  const toRow = (kind: 'seen' | 'accepted', at: string | null) =>
    at === null ? [] : [{ receiverId, kind, at }];
  return [...toRow('seen', lastSeenAt), ...toRow('accepted', lastAcceptedAt)];
}

function findMinutes(db: Db, receiverId: string, span: MinuteSpan) {
  return db
    .selectFrom('receiverMinutes')
    .select(['minute', 'requests', 'refused', 'accepted', 'rejected', 'bytes'])
    .where('receiverId', '=', receiverId)
    .where('minute', '>=', span.fromMinute)
    .where('minute', '<', span.untilMinute)
    .orderBy('minute')
    .execute();
}

async function findReasons(db: Db, receiverId: string, span: MinuteSpan) {
  const rows = await db
    .selectFrom('receiverReasons')
    .select((select) => ['kind', 'reason', select.fn.sum('count').as('count')])
    .where('receiverId', '=', receiverId)
    .where('minute', '>=', span.fromMinute)
    .where('minute', '<', span.untilMinute)
    .groupBy(['kind', 'reason'])
    .execute();
  // PostgreSQL gives a sum as text.
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

async function findSamples(db: Db, receiverId: string): Promise<ReceiverSample[]> {
  const rows = await newestSamples(db, receiverId).select('sample').execute();
  return rows.map((row) => JSON.parse(row.sample) as ReceiverSample);
}

async function findActivity(db: Db, receiverId: string): Promise<ReceiverActivity> {
  const rows = await db
    .selectFrom('receiverActivity')
    .select(['kind', 'at'])
    .where('receiverId', '=', receiverId)
    .execute();
  const times = new Map(rows.map(({ kind, at }) => [kind, at]));
  return {
    lastSeenAt: times.get('seen') ?? null,
    lastAcceptedAt: times.get('accepted') ?? null,
  };
}

/** Yields the thread between chunks, since SQLite runs on it. */
export async function* inChunks<Item>(
  items: readonly Item[],
  size = rowsPerStatement,
): AsyncGenerator<Item[]> {
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await setImmediate();
    yield items.slice(at, at + size);
  }
}
