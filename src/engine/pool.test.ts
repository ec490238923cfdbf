/** Members are shared by account, with a bounded queue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPool } from './pool.ts';

const never = new AbortController().signal;
const account = 'account';

test('a member has one holder at a time, in order of arrival', async () => {
  const pool = createPool('test', ['m'], 4);
  const held = await pool.acquire(account, never);
  const order: string[] = [];
  const first = pool.acquire(account, never).then(() => order.push('first'));
  const second = pool.acquire(account, never).then(() => order.push('second'));
  assert.deepEqual(order, []);
  pool.release(held);
  await first;
  assert.deepEqual(order, ['first']);
  pool.release(held);
  await second;
  assert.deepEqual(order, ['first', 'second']);
});

test('keeps a member for another account', async () => {
  const pool = createPool('test', ['a', 'b', 'c'], 10);
  const held = [await pool.acquire(account, never), await pool.acquire(account, never)];
  const waiting = pool.acquire(account, never);
  assert.equal(typeof (await pool.acquire('another', never)), 'string');
  for (const member of held) pool.release(member);
  await waiting;
});

test('refuses queries over the bound until there is room', async () => {
  const pool = createPool('test', ['m'], 1);
  const held = await pool.acquire(account, never);
  const waiting = pool.acquire(account, never);
  await assert.rejects(pool.acquire(account, never), { code: 202 });
  assert.throws(() => pool.assertRoom(account), { code: 202 });
  pool.release(held);
  pool.release(await waiting);
  pool.assertRoom(account);
});

test('skips a query that is cancelled while it waits', async () => {
  const pool = createPool('test', ['m'], 4);
  const held = await pool.acquire(account, never);
  const leaver = new AbortController();
  const left = pool.acquire(account, leaver.signal);
  const stays = pool.acquire(account, never);
  leaver.abort();
  await assert.rejects(left, { code: 394 });
  pool.release(held);
  assert.equal(await stays, 'm');
  await assert.rejects(pool.acquire(account, leaver.signal), { code: 394 });
});

test('close refuses waiting queries and resolves once all members are released', async () => {
  const pool = createPool('test', ['a', 'b'], 2);
  const held = [await pool.acquire(account, never), await pool.acquire('another', never)];
  const waiting = pool.acquire(account, never);
  let isClosed = false;
  const closed = pool.close().then(() => {
    isClosed = true;
  });
  await assert.rejects(waiting, { code: 236 });
  await assert.rejects(pool.acquire(account, never), { code: 236 });
  assert.equal(isClosed, false);
  for (const member of held) pool.release(member);
  await closed;
});
