/** Order of tasks, and yields to the event loop during a long queue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRoundRobin } from './round-robin.ts';

test('runs one task of each source in turn, in order within a source', async () => {
  const schedule = createRoundRobin<object>();
  const [one, other] = [{}, {}];
  const done: string[] = [];
  for (const name of ['a1', 'a2', 'a3']) schedule.add(one, () => done.push(name));
  for (const name of ['b1', 'b2']) schedule.add(other, () => done.push(name));
  assert.deepEqual(done, []);
  await new Promise(setImmediate);
  assert.deepEqual(done, ['a1', 'b1', 'a2', 'b2', 'a3']);
});

test('yields to the event loop before a long queue is done', async () => {
  const schedule = createRoundRobin<object>();
  let left = 200;
  const busy = () => {
    const endMs = performance.now() + 1;
    while (performance.now() < endMs);
    left -= 1;
  };
  const source = {};
  for (let count = 0; count < 200; count += 1) schedule.add(source, busy);
  await new Promise(setImmediate);
  assert.ok(left > 0 && left < 200, `${left} of 200 are left`);
  while (left > 0) await new Promise(setImmediate);
});

test('runs a task added by a task', async () => {
  const schedule = createRoundRobin<object>();
  const source = {};
  const { promise, resolve } = Promise.withResolvers<void>();
  schedule.add(source, () => schedule.add(source, resolve));
  await promise;
});
