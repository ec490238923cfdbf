/** What a process that serves probes asks of its parts, and how often. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createReadiness } from './readiness.ts';

const queue = { status: () => ({ writable: true }) as never };

test('the store is asked once for all who ask within a second', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const ping = mock.fn(async () => true);
  const { missing } = createReadiness(queue, { ping });
  await Promise.all([missing(), missing()]);
  assert.deepEqual(await missing(), []);
  assert.equal(ping.mock.callCount(), 1);

  t.mock.timers.tick(1000);
  ping.mock.mockImplementation(async () => false);
  assert.deepEqual(await missing(), ['store']);
  assert.equal(ping.mock.callCount(), 2);
});

test('a process that leaves says so at once', async () => {
  const readiness = createReadiness(queue, { ping: async () => true });
  assert.deepEqual(await readiness.missing(), []);
  await readiness.leave(0);
  assert.deepEqual(await readiness.missing(), ['running']);
});
