/** Collection of garbage by a watch of memory in flight and of memory used. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { until } from '../../test/harness/until.ts';
import { collectAfterBursts } from './garbage.ts';

const mebibyte = 1024 * 1024;

function startWatch(context: TestContext) {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const state = { inFlight: 0, used: 0, live: 0, collections: 0 };
  const watch = collectAfterBursts({
    memoryInFlight: () => state.inFlight,
    quietBytes: 10,
    usedBytes: () => state.used,
    collect: async () => {
      state.collections += 1;
      state.used = state.live;
    },
    checkEveryMs: 1,
  });
  context.after(() => watch[Symbol.dispose]());
  const pass = async (checks: number) => {
    for (let check = 0; check < checks; check += 1) {
      context.mock.timers.tick(1);
      await Promise.resolve();
    }
  };
  return { state, pass };
}

test('collects once large requests are over, not while there are any', async (context) => {
  const { state, pass } = startWatch(context);
  Object.assign(state, { inFlight: 100, used: 500 * mebibyte });
  await pass(10);
  assert.equal(state.collections, 0);
  state.inFlight = 10;
  await pass(2);
  assert.equal(state.collections, 0);
  await pass(10);
  assert.equal(state.collections, 1);
});

test('collects again only above what is alive', async (context) => {
  const { state, pass } = startWatch(context);
  Object.assign(state, { used: 900 * mebibyte, live: 700 * mebibyte });
  await pass(40);
  assert.equal(state.collections, 1);
  state.used = 820 * mebibyte;
  await pass(40);
  assert.equal(state.collections, 1);
  state.used = 830 * mebibyte;
  await pass(40);
  assert.equal(state.collections, 2);
});

test('pauses between two collections', async (context) => {
  const { state, pass } = startWatch(context);
  Object.assign(state, { used: 500 * mebibyte });
  await pass(3);
  state.used = 500 * mebibyte;
  await pass(29);
  assert.equal(state.collections, 1);
  await pass(1);
  assert.equal(state.collections, 2);
});

test('collects above what a later collection of V8 left', async (context) => {
  const { state, pass } = startWatch(context);
  Object.assign(state, { used: 900 * mebibyte, live: 700 * mebibyte });
  await pass(40);
  Object.assign(state, { used: 100 * mebibyte, live: 100 * mebibyte });
  await pass(40);
  assert.equal(state.collections, 1);
  state.used = 600 * mebibyte;
  await pass(40);
  assert.equal(state.collections, 2);
});

test('frees what is garbage', async (context) => {
  fill();
  assert.ok(process.memoryUsage().external > 200 * mebibyte);
  const options = { memoryInFlight: () => 0, quietBytes: 0, checkEveryMs: 1 };
  const watch = collectAfterBursts(options);
  context.after(() => watch[Symbol.dispose]());
  await until(() => process.memoryUsage().external < 100 * mebibyte, { what: 'a collection' });
});

function fill(): void {
  const buffers = Array.from({ length: 200 }, () => Buffer.alloc(mebibyte));
  assert.equal(buffers.length, 200);
}
