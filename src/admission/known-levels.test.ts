/** Cached levels of shared buckets, with a test clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKnownLevels } from './known-levels.ts';
import type { Bucket } from './port.ts';

function open(maxLevels = 10) {
  const clock = { ms: 0 };
  return { clock, known: createKnownLevels({ maxLevels, maxAgeMs: 5000 }, () => clock.ms) };
}

function bucketOf(owner: string): Bucket {
  return { policy: 'receiver', owner, accountId: 'a', eventsPerSecond: 10, burstEvents: 30 };
}

test('refills a level by the rate up to the burst', () => {
  const { clock, known } = open();
  const bucket = bucketOf('r');
  assert.equal(known.level(bucket), 30);
  known.note(bucket, -15);
  assert.equal(known.level(bucket), -15);
  clock.ms = 2000;
  assert.equal(known.level(bucket), 5);
  assert.equal(known.level({ ...bucket, policy: 'account' }), 30);
  clock.ms = 4900;
  assert.equal(known.level(bucket), 30);
});

test('forgets a debt after the maximum age', () => {
  const { clock, known } = open();
  const bucket = bucketOf('r');
  known.note(bucket, -1000);
  clock.ms = 5000;
  assert.equal(known.level(bucket), -950);
  clock.ms = 5001;
  assert.equal(known.level(bucket), 30);
});

test('evicts the oldest level', () => {
  const { known } = open(2);
  const [one, two, three] = [bucketOf('1'), bucketOf('2'), bucketOf('3')];
  known.note(one, -1);
  known.note(two, -2);
  known.note(one, -3);
  known.note(three, -4);
  assert.deepEqual(
    [one, two, three].map((bucket) => known.level(bucket)),
    [-3, 30, -4],
  );
});
