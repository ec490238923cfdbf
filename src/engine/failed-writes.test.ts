/** After a failed write no query gets a response. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWriteWatch } from './failed-writes.ts';

test('a check resolves while no further write has failed', async () => {
  const { watch, failures } = setUp(3);
  await watch.check();
  await watch.check();
  assert.deepEqual(failures, []);
});

test('reports a failed write once, with the time of the last clean check', async () => {
  const { watch, failures, state } = setUp(0);
  state.now = 1_000;
  await watch.check();
  state.now = 2_000;
  state.writes = 1;
  const settled: string[] = [];
  for (const name of ['first', 'second']) void watch.check().then(() => settled.push(name));
  await new Promise(setImmediate);
  assert.deepEqual(failures, [1_000]);
  assert.deepEqual(settled, []);
});

test('rejects a check whose count fails', async () => {
  const { watch, state, failures } = setUp(0);
  state.fault = new Error('stopping');
  await assert.rejects(watch.check(), /stopping/);
  assert.deepEqual(failures, []);
});

test('treats writes as failed after 30 s without a count', async () => {
  const { watch, state, failures } = setUp(0);
  state.fault = new Error('memory limit');
  state.now = 31_000;
  void watch.check();
  await new Promise(setImmediate);
  assert.deepEqual(failures, [0]);
});

function setUp(baseline: number) {
  const state = { writes: baseline, now: 0, fault: undefined as Error | undefined };
  const failures: number[] = [];
  const watch = createWriteWatch({
    async count() {
      if (state.fault !== undefined) throw state.fault;
      return state.writes;
    },
    baseline,
    failed: (cleanAtMs) => failures.push(cleanAtMs),
    now: () => state.now,
  });
  return { watch, failures, state };
}
