/**
 * Counting while the store is slow or unreachable: no count is written twice, and each lost one is
 * counted as dropped.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { StatisticsStore } from '../directory/port.ts';
import type { Batch } from '../model/batch.ts';
import { AppError } from '../model/errors.ts';
import type { StatisticsAddition } from '../model/receiver-statistics.ts';
import type { Sender } from './receiver-sample.ts';
import {
  openReceiverStatistics,
  type ReceiverStatistics,
  receiverStatisticsDefaults,
  type ReceiverStatisticsOptions,
} from './receiver-statistics.ts';

const span = { fromMinute: 0, untilMinute: 1_000_000_000 };
const malformed = new AppError('malformed', 'cannot read it');

/** Test double of the store: records writes, and fails on demand. */
class FakeStore implements StatisticsStore {
  readonly additions: StatisticsAddition[] = [];
  readonly prunedBefore: number[] = [];
  fault: Error | undefined;
  /** Delays writes until it resolves. */
  gate: Promise<void> = Promise.resolve();
  isKnown = (receiverId: string) => !receiverId.startsWith('rcv_unknown');

  async addStatistics(addition: StatisticsAddition): Promise<ReadonlySet<string>> {
    await this.gate;
    if (this.fault !== undefined) throw this.fault;
    this.additions.push(addition);
    const ids = addition.activities.map(({ receiverId }) => receiverId);
    return new Set(ids.filter((receiverId) => this.isKnown(receiverId)));
  }

  async findStatistics(receiverId: string) {
    const own = this.additions
      .flatMap(({ minutes }) => minutes)
      .filter((minute) => minute.receiverId === receiverId)
      .map(({ receiverId: _, ...counts }) => counts);
    const { lastSeenAt = null, lastAcceptedAt = null } =
      this.additions
        .flatMap(({ activities }) => activities)
        .findLast((activity) => activity.receiverId === receiverId) ?? {};
    const samples = this.additions.flatMap((addition) => addition.samples).reverse();
    return { minutes: own, reasons: [], samples, lastSeenAt, lastAcceptedAt };
  }

  async pruneStatistics(beforeMinute: number): Promise<void> {
    this.prunedBefore.push(beforeMinute);
  }

  /** Number of requests written for a receiver. */
  requests(receiverId: string): number {
    return this.additions
      .flatMap(({ minutes }) => minutes)
      .filter((minute) => minute.receiverId === receiverId)
      .reduce((sum, { requests }) => sum + requests, 0);
  }
}

let store: FakeStore;
let nowMs: number;
let failures: unknown[];
let dropped: { minutes: number; samples: number };
let opened: ReceiverStatistics[];
beforeEach(() => {
  store = new FakeStore();
  nowMs = Date.UTC(2026, 3, 1, 8, 30);
  failures = [];
  dropped = { minutes: 0, samples: 0 };
  opened = [];
});
afterEach(async () => {
  for (const statistics of opened) await statistics.close();
});

/** Flushes at close, and every few ms if a test waits for a flush. */
function open(options: Partial<ReceiverStatisticsOptions> = {}): ReceiverStatistics {
  const statistics = openReceiverStatistics(
    store,
    { ...receiverStatisticsDefaults, flushEveryMs: 60_000, ...options },
    {
      statisticsWriteFailed: (error) => failures.push(error),
      statisticsDropped: (minutes, samples) => {
        dropped = { minutes: dropped.minutes + minutes, samples: dropped.samples + samples };
      },
    },
    () => nowMs,
  );
  opened.push(statistics);
  return statistics;
}

function from(receiverId: string | undefined): Sender {
  return {
    receiverId,
    tokenId: undefined,
    peerAddress: '::1',
    contentType: undefined,
    declaredBytes: undefined,
  };
}

function taken(rows: number, rejected = 0) {
  const batch: Batch = {
    layout: 'logs/1',
    rows,
    payload: new Uint8Array(),
    rejected: rejected === 0 ? [] : [{ index: 0, reason: 'message is missing' }],
    rejectedCount: rejected,
    rejectedByReason: new Map(rejected === 0 ? [] : [['message is missing', rejected]]),
  };
  return { batch, bodyBytes: 10, status: 202 };
}

test('reads buffered statistics and writes them once', async () => {
  const statistics = open();
  statistics.accepted(from('rcv_a'), taken(3, 2));
  statistics.refused(from('rcv_a'), malformed);
  const before = await statistics.history('rcv_a', span);
  const counts = { requests: 2, refused: 1, accepted: 3, rejected: 2, bytes: 10 };
  assert.deepEqual(before.minutes, [{ minute: nowMs / 60_000, ...counts }]);
  assert.deepEqual(before.reasons, [
    { kind: 'request', reason: 'malformed', count: 1 },
    { kind: 'record', reason: 'message is missing', count: 2 },
  ]);
  assert.deepEqual(
    before.samples.map(({ reason }) => reason),
    ['malformed', 'message is missing'],
  );
  await statistics.close();
  assert.equal(store.requests('rcv_a'), 2);
  const after = await statistics.history('rcv_a', span);
  assert.deepEqual(after.minutes[0], before.minutes[0]);
  assert.equal(after.samples.length, 2);
  await statistics.close();
  assert.equal(store.additions.length, 1);
});

test('ignores refusals without a receiver', async () => {
  const statistics = open();
  statistics.refused(from(undefined), malformed);
  await statistics.close();
  assert.deepEqual(store.additions, []);
});

test('counts each error code, other errors as internal', async () => {
  const statistics = open();
  const codes = ['unavailable', 'timeout', 'quota_exceeded', 'too_large', 'forbidden'] as const;
  for (const code of codes) statistics.refused(from('rcv_a'), new AppError(code, 'cannot'));
  statistics.refused(from('rcv_a'), new TypeError('a bug'));
  const { reasons } = await statistics.history('rcv_a', span);
  assert.deepEqual(
    reasons.map(({ reason }) => reason),
    [...codes, 'internal'],
  );
});

test('buffers while the store is unreachable and writes later', async () => {
  const statistics = open({ flushEveryMs: 1 });
  store.fault = new AppError('unavailable', 'cannot reach the directory');
  statistics.accepted(from('rcv_a'), taken(1));
  statistics.refused(from('rcv_a'), malformed);
  while (failures.length < 3) await new Promise(setImmediate);
  nowMs += 60_000;
  statistics.accepted(from('rcv_a'), taken(1));
  statistics.refused(from('rcv_b'), malformed);
  const count = failures.length;
  while (failures.length < count + 3) await new Promise(setImmediate);
  assert.equal(store.additions.length, 0);
  store.fault = undefined;
  await statistics.close();
  assert.equal(store.requests('rcv_a'), 3);
  assert.equal(store.requests('rcv_b'), 1);
  const [addition] = store.additions;
  assert.equal(addition?.minutes.length, 3);
  assert.equal(addition.samples.length, 2);
  const { lastSeenAt } = addition.activities.find(({ receiverId }) => receiverId === 'rcv_a')!;
  assert.equal(lastSeenAt, new Date(nowMs).toISOString());
  assert.deepEqual(dropped, { minutes: 0, samples: 0 });
});

test('keeps counts that arrive during a write, and reads wait for the write', async () => {
  const statistics = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  store.gate = promise;
  statistics.accepted(from('rcv_a'), taken(1));
  const closing = statistics.close();
  await new Promise(setImmediate);
  statistics.accepted(from('rcv_a'), taken(1));
  const reading = statistics.history('rcv_a', span);
  resolve();
  assert.equal((await reading).minutes[0]?.requests, 2);
  await closing;
  await statistics.close();
  assert.deepEqual(
    store.additions.map(({ minutes }) => minutes[0]?.requests),
    [1, 1],
  );
});

test('drops and counts the oldest beyond the limit', async () => {
  const statistics = open({ pending: { maxMinutes: 3, maxSamples: 5 } });
  for (let i = 0; i < 10; i += 1) {
    nowMs += 60_000;
    statistics.accepted(from('rcv_a'), taken(1));
    statistics.refused(from('rcv_a'), malformed);
  }
  await statistics.close();
  const [addition] = store.additions;
  const last = nowMs / 60_000;
  assert.deepEqual(
    addition?.minutes.map(({ minute }) => minute),
    [last - 2, last - 1, last],
  );
  assert.equal(addition.samples.length, 5);
  assert.deepEqual(dropped, { minutes: 7, samples: 5 });
});

test('buffers no more samples per receiver than are stored', async () => {
  const statistics = open();
  statistics.accepted(from('rcv_a'), taken(1));
  for (let i = 0; i < 1000; i += 1) statistics.refused(from('rcv_a'), malformed);
  await statistics.close();
  assert.equal(store.additions[0]?.samples.length, 20);
  assert.deepEqual(dropped, { minutes: 0, samples: 0 });
});

test('bounds unknown receiver ids without evicting known receivers', async () => {
  const statistics = open();
  statistics.accepted(from('rcv_a'), taken(1));
  for (let i = 0; i < 100_000; i += 1) statistics.refused(from(`rcv_unknown${i}`), malformed);
  statistics.refused(from('rcv_a'), malformed);
  await statistics.close();
  const [addition] = store.additions;
  const { maxMinutes, maxSamples } = receiverStatisticsDefaults.unknownReceivers;
  assert.ok(addition!.minutes.length <= maxMinutes + 1);
  assert.ok(addition!.activities.length <= maxMinutes + 1);
  assert.ok(addition!.samples.length <= maxSamples + 1);
  assert.equal(store.requests('rcv_a'), 2);
});

test('treats a receiver as known once the store has it', async () => {
  const statistics = open({ unknownReceivers: { maxMinutes: 1, maxSamples: 1 } });
  statistics.refused(from('rcv_a'), malformed);
  await statistics.close();
  statistics.refused(from('rcv_a'), malformed);
  statistics.refused(from('rcv_unknown1'), malformed);
  statistics.refused(from('rcv_unknown2'), malformed);
  await statistics.close();
  assert.equal(store.requests('rcv_a'), 2);
  // A deleted receiver is unknown again.
  store.isKnown = () => false;
  statistics.refused(from('rcv_a'), malformed);
  await statistics.close();
  statistics.refused(from('rcv_a'), malformed);
  statistics.refused(from('rcv_unknown3'), malformed);
  await statistics.close();
  assert.equal(store.requests('rcv_a'), 3);
});

test('never writes a receiver and minute twice', async () => {
  const statistics = open();
  statistics.refused(from('rcv_a'), malformed);
  statistics.accepted(from('rcv_a'), taken(1));
  nowMs += 60_000;
  statistics.refused(from('rcv_a'), malformed);
  nowMs -= 60_000;
  statistics.refused(from('rcv_a'), malformed);
  await statistics.close();
  const { minutes, reasons, activities } = store.additions[0]!;
  assert.deepEqual(
    minutes.map(({ requests, refused, accepted }) => [requests, refused, accepted]),
    [
      [3, 2, 1],
      [1, 1, 0],
    ],
  );
  assert.deepEqual(
    reasons.map(({ minute, count }) => [minute, count]),
    [
      [minutes[1]?.minute, 1],
      [minutes[0]?.minute, 2],
    ],
  );
  assert.equal(activities.length, 1);
  assert.equal(activities[0]?.lastSeenAt, new Date(nowMs + 60_000).toISOString());
});

test('prunes statistics beyond the retention', async () => {
  const statistics = open({ retentionDays: 2, pruneEveryMs: 1000 });
  await statistics.close();
  await statistics.close();
  nowMs += 1000;
  await statistics.close();
  const minute = Math.floor(nowMs / 60_000);
  assert.deepEqual(store.prunedBefore, [minute - 2880, minute - 2880]);
});
