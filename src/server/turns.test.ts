/** Who gets a turn when, and that a long queue of one source keeps no other waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from './turns.ts';

test('sources take turns, each with its work in order', async () => {
  const turns = createTurns<object>();
  const [one, other] = [{}, {}];
  const done: string[] = [];
  for (const name of ['a1', 'a2', 'a3']) turns.add(one, () => done.push(name));
  for (const name of ['b1', 'b2']) turns.add(other, () => done.push(name));
  assert.deepEqual(done, []);
  await new Promise(setImmediate);
  assert.deepEqual(done, ['a1', 'b1', 'a2', 'b2', 'a3']);
});

test('others are looked after before a long queue is done', async () => {
  const turns = createTurns<object>();
  let left = 200;
  const busy = () => {
    const endMs = performance.now() + 1;
    while (performance.now() < endMs);
    left -= 1;
  };
  const source = {};
  for (let count = 0; count < 200; count += 1) turns.add(source, busy);
  await new Promise(setImmediate);
  assert.ok(left > 0 && left < 200, `${left} of 200 are left`);
  while (left > 0) await new Promise(setImmediate);
});

test('work may bring more work', async () => {
  const turns = createTurns<object>();
  const source = {};
  const { promise, resolve } = Promise.withResolvers<void>();
  turns.add(source, () => turns.add(source, resolve));
  await promise;
});
