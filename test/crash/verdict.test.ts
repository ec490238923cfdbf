/** The verdict detects each kind of violation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerEntry } from './ledger.ts';
import { eventName, judge, type Mode } from './verdict.ts';

function verdictOf(
  mode: Mode,
  entry: Omit<LedgerEntry, 'request'>,
  stored: readonly (readonly [string, number])[],
) {
  const entries = new Map([[1, { request: 1, ...entry }]]);
  return judge([{ sender: 7, mode, entries }], new Map(stored));
}

const first = eventName(7, 1, 0);
const second = eventName(7, 1, 1);
const acked = { events: 2, attempts: 1, acks: 1 };
const lost = { events: 1, attempts: 2, acks: 0 };

test('no violation', () => {
  const verdict = verdictOf('plain', acked, [
    [first, 1],
    [second, 1],
  ]);
  assert.deepEqual(verdict, {
    acknowledged: 2,
    unanswered: 0,
    unansweredStored: 0,
    lost: 0,
    doubled: 0,
    invented: 0,
    faults: [],
  });
});

test('a lost response allows both outcomes', () => {
  assert.deepEqual(verdictOf('plain', lost, []).faults, []);
  assert.deepEqual(verdictOf('plain', lost, [[first, 2]]).faults, []);
  assert.deepEqual(verdictOf('keyed', lost, [[first, 1]]).faults, []);
});

test('a missing acknowledged event is a violation', () => {
  const { faults, lost: count } = verdictOf('plain', acked, [[first, 1]]);
  assert.equal(count, 1);
  assert.deepEqual(faults, [`${second} was acknowledged and is stored 0 times`]);
});

test('an acknowledged event stored twice is a violation', () => {
  const { faults, doubled } = verdictOf('keyed', { ...acked, attempts: 3 }, [
    [first, 1],
    [second, 2],
  ]);
  assert.equal(doubled, 1);
  assert.deepEqual(faults, [`${second} was acknowledged and is stored 2 times`]);
});

test('an event stored more often than sent is a violation', () => {
  assert.equal(verdictOf('plain', lost, [[first, 3]]).faults.length, 1);
});

test('a keyed event stored twice is a violation even after a lost response', () => {
  assert.equal(verdictOf('keyed', lost, [[first, 2]]).faults.length, 1);
});

test('an unknown event is a violation', () => {
  const { faults, invented } = verdictOf('plain', lost, [['unknown', 1]]);
  assert.equal(invented, 1);
  assert.deepEqual(faults, ['"unknown" is stored and was never sent']);
});
