/** Changes of a form, in flat and in nested fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFields } from './changed-fields.ts';

const before = {
  name: 'a',
  allowedCidrs: ['10.0.0.0/8'],
  limits: { eventsPerSecond: 5, burstEvents: null as number | null },
};

test('a form without changes sends nothing', () => {
  assert.equal(changedFields(before, structuredClone(before)), undefined);
  const reordered = { burstEvents: null, eventsPerSecond: 5 };
  assert.equal(changedFields(before, { ...before, limits: reordered }), undefined);
});

test('only what differs is sent, of objects only their fields that differ', () => {
  const limits = { eventsPerSecond: 5, burstEvents: 9 };
  const after = { name: 'b', allowedCidrs: ['10.0.0.0/8'], limits };
  assert.deepEqual(changedFields(before, after), { name: 'b', limits: { burstEvents: 9 } });
});

test('a list is sent as a whole, also when it is empty', () => {
  assert.deepEqual(changedFields(before, { ...before, allowedCidrs: [] }), { allowedCidrs: [] });
});

test('a value that was removed is sent as null', () => {
  const old = { rate: 7 as number | null };
  assert.deepEqual(changedFields(old, { rate: null }), { rate: null });
});
