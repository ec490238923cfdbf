/** Members go round fairly, and only so many wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPool } from './pool.ts';

const never = new AbortController().signal;

test('members go to one holder at a time, in order of arrival', async () => {
  const pool = createPool('test', ['m'], 2);
  const held = await pool.acquire(never);
  const order: string[] = [];
  const first = pool.acquire(never).then(() => order.push('first'));
  const second = pool.acquire(never).then(() => order.push('second'));
  assert.deepEqual(order, []);
  pool.release(held);
  await first;
  assert.deepEqual(order, ['first']);
  pool.release(held);
  await second;
  assert.deepEqual(order, ['first', 'second']);
});

test('beyond the bound a query is refused, and there is room again afterwards', async () => {
  const pool = createPool('test', ['m'], 1);
  const held = await pool.acquire(never);
  const waiting = pool.acquire(never);
  await assert.rejects(pool.acquire(never), { code: 202 });
  assert.throws(() => pool.assertRoom(), { code: 202 });
  pool.release(held);
  pool.release(await waiting);
  pool.assertRoom();
});

test('who leaves while waiting is not served', async () => {
  const pool = createPool('test', ['m'], 2);
  const held = await pool.acquire(never);
  const leaver = new AbortController();
  const left = pool.acquire(leaver.signal);
  const stays = pool.acquire(never);
  leaver.abort();
  await assert.rejects(left, { code: 394 });
  pool.release(held);
  assert.equal(await stays, 'm');
  await assert.rejects(pool.acquire(leaver.signal), { code: 394 });
});

test('closing refuses those who wait and resolves when all members are back', async () => {
  const pool = createPool('test', ['a', 'b'], 2);
  const held = [await pool.acquire(never), await pool.acquire(never)];
  const waiting = pool.acquire(never);
  let isClosed = false;
  const closed = pool.close().then(() => {
    isClosed = true;
  });
  await assert.rejects(waiting, { code: 236 });
  await assert.rejects(pool.acquire(never), { code: 236 });
  assert.equal(isClosed, false);
  for (const member of held) pool.release(member);
  await closed;
});
