/** Merges stop for a series of large inserts, and start again whatever fails or hangs meanwhile. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../connection.ts';
import { createMergePause } from './merge-pause.ts';

const large = 16 * 2 ** 20;

/** Records what is executed. Of `state`, `answers` delays each statement until it resolves. */
function setUp({ mock }: TestContext) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const state = { mutations: 0, fails: false, nowMs: 0, answers: Promise.resolve() };
  const executed: string[] = [];
  const connection = {
    async query() {
      await state.answers;
      return [[String(state.mutations)]];
    },
    async execute(_pool: string, { sql }: { sql: string }) {
      await state.answers;
      if (state.fails) throw new Error('unreachable');
      executed.push(sql.split(' ')[1]!);
    },
  } as unknown as Pick<Connection, 'execute' | 'query'>;
  const placement = { database: 'weir', cluster: undefined };
  const pause = createMergePause(connection, { placement, table: 'logs' }, () => state.nowMs);
  const insert = async (times: number, bytes = large) => {
    for (let done = 0; done < times; done++) await pause.beforeInsert(bytes);
  };
  const pass = async (ms: number) => {
    state.nowMs += ms;
    mock.timers.tick(ms);
    await turn();
  };
  return { state, executed, insert, pass, pause };
}

test('pauses merges from the fourth large insert until five seconds after the last', async (t) => {
  const { executed, insert, pass } = setUp(t);
  await insert(10, large - 1);
  await insert(3);
  assert.deepEqual(executed, []);
  await insert(1);
  await pass(4_000);
  await insert(1);
  await pass(4_000);
  assert.deepEqual(executed, ['STOP']);
  await pass(1_000);
  assert.deepEqual(executed, ['STOP', 'START']);
});

test('does not pause for large inserts that are not a series', async (t) => {
  const { executed, insert, pass } = setUp(t);
  for (let flushes = 0; flushes < 10; flushes++) {
    await insert(3);
    await pass(6_000);
  }
  assert.deepEqual(executed, []);
});

test('a pause ends after a hundred inserts of any size', async (t) => {
  const { executed, insert } = setUp(t);
  await insert(4);
  await insert(99, 1);
  assert.deepEqual(executed, ['STOP']);
  await insert(1, 1);
  assert.deepEqual(executed, ['STOP', 'START']);
});

test('a pause ends after a minute, and the next begins four minutes later', async (t) => {
  const { executed, insert, pass } = setUp(t);
  const insertFor = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 2) {
      await insert(1);
      await pass(2_000);
    }
  };
  await insertFor(64);
  assert.deepEqual(executed, ['STOP']);
  await insertFor(4);
  assert.deepEqual(executed, ['STOP', 'START']);
  await insertFor(236);
  assert.deepEqual(executed, ['STOP', 'START']);
  await insertFor(6);
  assert.deepEqual(executed, ['STOP', 'START', 'STOP']);
});

test('does not cancel a mutation', async (t) => {
  const { state, executed, insert } = setUp(t);
  state.mutations = 1;
  await insert(5);
  assert.deepEqual(executed, []);
  state.mutations = 0;
  await insert(1);
  assert.deepEqual(executed, ['STOP']);
});

test('resumes merges once the store is reachable again', async (t) => {
  const { state, executed, insert, pass } = setUp(t);
  await insert(4);
  state.fails = true;
  await pass(5_000);
  assert.deepEqual(executed, ['STOP']);
  state.fails = false;
  await pass(5_000);
  assert.deepEqual(executed, ['STOP', 'START']);
});

test('resumes merges if a STOP that failed may have stopped them', async (t) => {
  const { state, executed, insert, pass } = setUp(t);
  state.fails = true;
  await insert(4);
  state.fails = false;
  await pass(5_000);
  assert.deepEqual(executed, ['START']);
});

test('merges are not stopped after the end of a series by statements that hang', async (t) => {
  const { state, executed, insert, pass } = setUp(t);
  await insert(3);
  const { promise, resolve } = Promise.withResolvers<void>();
  state.answers = promise;
  const inserted = insert(1);
  await pass(5_000);
  resolve();
  await inserted;
  await turn();
  assert.deepEqual(executed, []);
});

test('a START never overtakes a STOP', async (t) => {
  const { state, executed, insert, pass } = setUp(t);
  await insert(3);
  const inserted = insert(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  // The look for mutations has begun and is answered; STOP hangs.
  state.answers = promise;
  await turn();
  await pass(5_000);
  assert.deepEqual(executed, []);
  resolve();
  await inserted;
  await turn();
  assert.deepEqual(executed, ['STOP', 'START']);
});

test('does nothing after close', async (t) => {
  const { executed, insert, pass, pause } = setUp(t);
  await insert(4);
  pause.close();
  await pass(10_000);
  assert.deepEqual(executed, ['STOP']);
});
