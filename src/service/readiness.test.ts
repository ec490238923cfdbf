/** Readiness: how often the parts are checked, and the answer during a stop. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createReadiness } from './readiness.ts';

const queue = { status: () => ({ writable: true }) as never };

test('checks the store at most once a second', async (t) => {
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

test('reports not ready as soon as the stop begins', async () => {
  const readiness = createReadiness(queue, { ping: async () => true });
  assert.deepEqual(await readiness.missing(), []);
  await readiness.leave(0);
  assert.deepEqual(await readiness.missing(), ['running']);
});
