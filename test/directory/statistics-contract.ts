/** Contract of the directory: statistics of receivers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Directory } from '../../src/directory/port.ts';
import type {
  MinuteCounts,
  ReceiverSample,
  StatisticsAddition,
} from '../../src/model/receiver-statistics.ts';
import { createParts } from './fixtures.ts';

const nothing = {
  minutes: [],
  reasons: [],
  samples: [],
  lastSeenAt: null,
  lastAcceptedAt: null,
};
const always = { fromMinute: 0, untilMinute: 1_000_000_000 };

/** @param current returns the directory of the running test. */
export function statisticsContract(current: () => Directory): void {
  test('adds statistics to stored ones of any writer', async () => {
    const directory = current();
    const { receiverId } = (await createParts(directory)).receiver;
    const addition: StatisticsAddition = {
      minutes: [
        { receiverId, ...counts(7) },
        { receiverId, ...counts(8) },
      ],
      reasons: [
        { receiverId, minute: 7, kind: 'request', reason: 'malformed', count: 2 },
        { receiverId, minute: 8, kind: 'request', reason: 'malformed', count: 3 },
        { receiverId, minute: 7, kind: 'record', reason: 'malformed', count: 1 },
      ],
      samples: [],
      activities: [{ receiverId, lastSeenAt: iso(9), lastAcceptedAt: null }],
    };
    assert.deepEqual(await directory.addStatistics(addition), new Set([receiverId]));
    await directory.addStatistics(addition);
    const found = await directory.findStatistics(receiverId, { fromMinute: 7, untilMinute: 8 });
    assert.deepEqual(found.minutes, [
      { minute: 7, requests: 10, refused: 4, accepted: 2e12, rejected: 2, bytes: 2e14 },
    ]);
    const all = await directory.findStatistics(receiverId, always);
    assert.deepEqual(
      all.minutes.map(({ minute }) => minute),
      [7, 8],
    );
    const reasons = new Map(all.reasons.map(({ kind, reason, count }) => [kind + reason, count]));
    assert.deepEqual(Object.fromEntries(reasons), { requestmalformed: 10, recordmalformed: 2 });
    assert.equal(all.lastSeenAt, iso(9));
    assert.equal(all.lastAcceptedAt, null);
  });

  test('keeps the later time of activity in any order of writes', async () => {
    const directory = current();
    const { receiverId } = (await createParts(directory)).receiver;
    for (const [seen, accepted] of [
      [5, 5],
      [9, undefined],
      [7, 6],
      [3, 3],
    ] as const) {
      const lastAcceptedAt = accepted === undefined ? null : iso(accepted);
      const activities = [{ receiverId, lastSeenAt: iso(seen), lastAcceptedAt }];
      await directory.addStatistics({ minutes: [], reasons: [], samples: [], activities });
    }
    const { lastSeenAt, lastAcceptedAt } = await directory.findStatistics(receiverId, always);
    assert.deepEqual([lastSeenAt, lastAcceptedAt], [iso(9), iso(6)]);
  });

  test('keeps the last twenty samples, newest first', async () => {
    const directory = current();
    const { receiverId } = (await createParts(directory)).receiver;
    for (const from of [0, 15]) {
      const samples = Array.from({ length: 15 }, (_, i) => ({
        receiverId,
        // Three with the same time: the later ones of the batch are newer.
        ...sample(Math.floor((from + i) / 3), `n${from + i}`),
      }));
      await directory.addStatistics({
        minutes: [{ receiverId, ...counts(1) }],
        reasons: [],
        samples,
        activities: [],
      });
    }
    const { samples } = await directory.findStatistics(receiverId, always);
    assert.deepEqual(
      samples.map(({ detail }) => detail),
      Array.from({ length: 20 }, (_, i) => `n${29 - i}`),
    );
    assert.deepEqual(samples[0], sample(9, 'n29'));
  });

  test('skips unknown receivers and writes the rest', async () => {
    const directory = current();
    const { receiverId } = (await createParts(directory)).receiver;
    const ids = [receiverId, 'rcv_unknown'];
    const known = await directory.addStatistics({
      minutes: ids.map((id) => ({ receiverId: id, ...counts(1) })),
      reasons: ids.map((id) => ({
        receiverId: id,
        minute: 1,
        kind: 'request',
        reason: 'forbidden',
        count: 1,
      })),
      samples: ids.map((id) => ({ receiverId: id, ...sample(1, id) })),
      activities: ids.map((id) => ({
        receiverId: id,
        lastSeenAt: iso(1),
        lastAcceptedAt: iso(1),
      })),
    });
    assert.deepEqual(known, new Set([receiverId]));
    assert.deepEqual(await directory.findStatistics('rcv_unknown', always), nothing);
    const found = await directory.findStatistics(receiverId, always);
    assert.deepEqual(found.samples, [sample(1, receiverId)]);
    assert.equal(found.minutes.length, 1);
  });

  test('prunes old counts and samples, but not activity', async () => {
    const directory = current();
    const { receiverId } = (await createParts(directory)).receiver;
    const minutes = [10, 11].map((minute) => ({ receiverId, ...counts(minute) }));
    await directory.addStatistics({
      minutes,
      reasons: minutes.map(({ minute }) => ({
        receiverId,
        minute,
        kind: 'record',
        reason: 'series limit',
        count: 1,
      })),
      samples: [10, 11].map((minute) => ({ receiverId, ...sample(minute * 60, 'late') })),
      activities: [{ receiverId, lastSeenAt: iso(1), lastAcceptedAt: iso(1) }],
    });
    await directory.pruneStatistics(11);
    const found = await directory.findStatistics(receiverId, always);
    assert.deepEqual(
      found.minutes.map(({ minute }) => minute),
      [11],
    );
    assert.deepEqual(found.reasons, [{ kind: 'record', reason: 'series limit', count: 1 }]);
    assert.deepEqual(found.samples, [sample(660, 'late')]);
    assert.equal(found.lastSeenAt, iso(1));
  });

  test('deletes statistics with their receiver', async () => {
    const directory = current();
    const { receiverId } = (await createParts(directory)).receiver;
    await directory.addStatistics({
      minutes: [{ receiverId, ...counts(1) }],
      reasons: [{ receiverId, minute: 1, kind: 'request', reason: 'forbidden', count: 1 }],
      samples: [{ receiverId, ...sample(1, 'gone') }],
      activities: [{ receiverId, lastSeenAt: iso(1), lastAcceptedAt: iso(1) }],
    });
    assert.equal(await directory.deleteReceiver(receiverId), true);
    assert.deepEqual(await directory.findStatistics(receiverId, always), nothing);
  });

  test('writes more receivers than one statement can contain', async () => {
    const directory = current();
    const { receiver } = await createParts(directory);
    const ids = [receiver.receiverId];
    for (let i = 0; i < 120; i += 1) {
      ids.push((await directory.createReceiver({ ...receiver, name: `r${i}` })).receiverId);
    }
    const known = await directory.addStatistics({
      minutes: ids.map((receiverId) => ({ receiverId, ...counts(1) })),
      reasons: [],
      samples: [],
      activities: ids.map((receiverId) => ({
        receiverId,
        lastSeenAt: iso(1),
        lastAcceptedAt: null,
      })),
    });
    assert.deepEqual(known, new Set(ids));
    for (const receiverId of [ids[0]!, ids.at(-1)!]) {
      assert.equal((await directory.findStatistics(receiverId, always)).minutes.length, 1);
    }
  });
}

/** More than 32 bits. */
function counts(minute: number): MinuteCounts {
  return { minute, requests: 5, refused: 2, accepted: 1e12, rejected: 1, bytes: 1e14 };
}

function sample(second: number, detail: string): ReceiverSample {
  return {
    at: iso(second),
    kind: 'request',
    reason: 'forbidden',
    status: 403,
    detail,
    tokenId: null,
    peerAddress: '::1',
    contentType: 'text/plain\u0000"\ud83d\ude00',
    bodyBytes: 12,
  };
}

function iso(second: number): string {
  return new Date(second * 1000).toISOString();
}
