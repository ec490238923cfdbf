/** Statistics of receivers in the directory's database. */
import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import {
  maxReceiverSamples,
  minuteMs,
  type MinuteSpan,
  type ReceiverActivity,
  type ReceiverSample,
  type StatisticsAddition,
} from '../model/receiver-statistics.ts';
import type { Database } from './database.ts';
import { inOrder } from './in-order.ts';
import type { StatisticsStore } from './port.ts';
import type { ReceiverActivityRow, Tables } from './tables.ts';

/** Of one statement: few enough for the parameters that a database takes. */
const rowsPerStatement = 100;

export function createStatisticsQueries(database: Database): StatisticsStore {
  // From a random start, so that processes that write beside each other do not meet.
  let nextSeq = randomInt(2 ** 40);
  return {
    addStatistics: (addition) =>
      database.writeBeside(async (tx) => {
        const known = await knownAmong(tx, addition);
        const isKnown = ({ receiverId }: { receiverId: string }) => known.has(receiverId);
        await addMinutes(tx, inOrder(addition.minutes.filter(isKnown), keyOfRow));
        await addReasons(tx, inOrder(addition.reasons.filter(isKnown), keyOfRow));
        const samples = addition.samples.filter(isKnown);
        await addSamples(tx, samples, nextSeq);
        nextSeq += samples.length;
        await noteActivities(tx, inOrder(addition.activities.filter(isKnown), keyOfRow));
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
      for (const table of ['receiver_minutes', 'receiver_reasons'] as const) {
        const prune = () => database.writeBeside((tx) => pruneOldest(tx, table, beforeMinute));
        while (await prune()) await setImmediate();
      }
      const before = new Date(beforeMinute * minuteMs).toISOString();
      await database.writeBeside((tx) =>
        tx.deleteFrom('receiver_samples').where('at', '<', before).execute(),
      );
    },
  };
}

/** Of one statement, so that what was left for long still goes within the time of one. */
const minutesPerStatement = 10;

/** @returns whether there was anything. */
async function pruneOldest(
  tx: Transaction<Tables>,
  table: 'receiver_minutes' | 'receiver_reasons',
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

/** Of minutes, reasons and activities alike. */
function keyOfRow(row: {
  readonly receiverId: string;
  readonly minute?: number;
  readonly kind?: string;
  readonly reason?: string;
}): string {
  return [row.receiverId, row.minute, row.kind, row.reason].join(' ');
}

async function knownAmong(
  tx: Transaction<Tables>,
  { minutes, activities }: StatisticsAddition,
): Promise<Set<string>> {
  const ids = new Set([...minutes, ...activities].map(({ receiverId }) => receiverId));
  const known = new Set<string>();
  for await (const chunk of inChunks([...ids])) {
    const rows = await tx
      .selectFrom('receivers')
      .select('receiver_id')
      .where('receiver_id', 'in', chunk)
      .execute();
    for (const row of rows) known.add(row.receiver_id);
  }
  return known;
}

async function addMinutes(
  tx: Transaction<Tables>,
  minutes: StatisticsAddition['minutes'],
): Promise<void> {
  for await (const chunk of inChunks(minutes)) {
    await tx
      .insertInto('receiver_minutes')
      .values(chunk.map(({ receiverId, ...counts }) => ({ receiver_id: receiverId, ...counts })))
      .onConflict((conflict) =>
        conflict.columns(['receiver_id', 'minute']).doUpdateSet((row) => ({
          requests: row('receiver_minutes.requests', '+', row.ref('excluded.requests')),
          refused: row('receiver_minutes.refused', '+', row.ref('excluded.refused')),
          accepted: row('receiver_minutes.accepted', '+', row.ref('excluded.accepted')),
          rejected: row('receiver_minutes.rejected', '+', row.ref('excluded.rejected')),
          bytes: row('receiver_minutes.bytes', '+', row.ref('excluded.bytes')),
        })),
      )
      .execute();
  }
}

async function addReasons(
  tx: Transaction<Tables>,
  reasons: StatisticsAddition['reasons'],
): Promise<void> {
  for await (const chunk of inChunks(reasons)) {
    await tx
      .insertInto('receiver_reasons')
      .values(chunk.map(({ receiverId, ...counts }) => ({ receiver_id: receiverId, ...counts })))
      .onConflict((conflict) =>
        conflict.columns(['receiver_id', 'minute', 'kind', 'reason']).doUpdateSet((row) => ({
          count: row('receiver_reasons.count', '+', row.ref('excluded.count')),
        })),
      )
      .execute();
  }
}

/** The newest of each receiver stay. */
async function addSamples(
  tx: Transaction<Tables>,
  samples: StatisticsAddition['samples'],
  firstSeq: number,
): Promise<void> {
  const rows = samples.map(({ receiverId, ...sample }, index) => ({
    receiver_id: receiverId,
    at: sample.at,
    seq: firstSeq + index,
    sample: JSON.stringify(sample),
  }));
  for await (const chunk of inChunks(rows)) {
    await tx.insertInto('receiver_samples').values(chunk).execute();
  }
  const receiverIds = new Set(samples.map(({ receiverId }) => receiverId));
  for await (const chunk of inChunks([...receiverIds].sort())) {
    for (const receiverId of chunk) {
      await tx
        .deleteFrom('receiver_samples')
        .where('receiver_id', '=', receiverId)
        .where('seq', 'not in', newestSamples(tx, receiverId).select('seq'))
        .execute();
    }
  }
}

function newestSamples(db: Kysely<Tables>, receiverId: string) {
  return db
    .selectFrom('receiver_samples')
    .where('receiver_id', '=', receiverId)
    .orderBy('at', 'desc')
    .orderBy('seq', 'desc')
    .limit(maxReceiverSamples);
}

/** The later time wins, whoever writes last. */
async function noteActivities(
  tx: Transaction<Tables>,
  activities: StatisticsAddition['activities'],
): Promise<void> {
  const rows = activities.flatMap(toActivityRows);
  for await (const chunk of inChunks(rows)) {
    await tx
      .insertInto('receiver_activity')
      .values(chunk)
      .onConflict((conflict) =>
        conflict
          .columns(['receiver_id', 'kind'])
          .doUpdateSet((row) => ({ at: row.ref('excluded.at') }))
          .whereRef('excluded.at', '>', 'receiver_activity.at'),
      )
      .execute();
  }
}

function toActivityRows({
  receiverId,
  lastSeenAt,
  lastAcceptedAt,
}: StatisticsAddition['activities'][number]): ReceiverActivityRow[] {
  const toRow = (kind: ReceiverActivityRow['kind'], at: string | null) =>
    at === null ? [] : [{ receiver_id: receiverId, kind, at }];
  return [...toRow('seen', lastSeenAt), ...toRow('accepted', lastAcceptedAt)];
}

async function findMinutes(db: Kysely<Tables>, receiverId: string, span: MinuteSpan) {
  const rows = await db
    .selectFrom('receiver_minutes')
    .select(['minute', 'requests', 'refused', 'accepted', 'rejected', 'bytes'])
    .where('receiver_id', '=', receiverId)
    .where('minute', '>=', span.fromMinute)
    .where('minute', '<', span.untilMinute)
    .orderBy('minute')
    .execute();
  // A database may give whole numbers of 64 bits as text.
  return rows.map((row) => ({
    minute: row.minute,
    requests: Number(row.requests),
    refused: Number(row.refused),
    accepted: Number(row.accepted),
    rejected: Number(row.rejected),
    bytes: Number(row.bytes),
  }));
}

async function findReasons(db: Kysely<Tables>, receiverId: string, span: MinuteSpan) {
  const rows = await db
    .selectFrom('receiver_reasons')
    .select((select) => ['kind', 'reason', select.fn.sum('count').as('count')])
    .where('receiver_id', '=', receiverId)
    .where('minute', '>=', span.fromMinute)
    .where('minute', '<', span.untilMinute)
    .groupBy(['kind', 'reason'])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

async function findSamples(db: Kysely<Tables>, receiverId: string): Promise<ReceiverSample[]> {
  const rows = await newestSamples(db, receiverId).select('sample').execute();
  return rows.map((row) => JSON.parse(row.sample) as ReceiverSample);
}

async function findActivity(db: Kysely<Tables>, receiverId: string): Promise<ReceiverActivity> {
  const rows = await db
    .selectFrom('receiver_activity')
    .select(['kind', 'at'])
    .where('receiver_id', '=', receiverId)
    .execute();
  const times = new Map(rows.map(({ kind, at }) => [kind, at]));
  return {
    lastSeenAt: times.get('seen') ?? null,
    lastAcceptedAt: times.get('accepted') ?? null,
  };
}

/** Between chunks others get the thread, on which an embedded database works. */
async function* inChunks<Item>(items: readonly Item[]): AsyncGenerator<Item[]> {
  for (let at = 0; at < items.length; at += rowsPerStatement) {
    if (at > 0) await setImmediate();
    yield items.slice(at, at + rowsPerStatement);
  }
}
