/** Merges stop for large inserts, and start again whatever fails meanwhile. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../connection.ts';
import { createMergePause } from './merge-pause.ts';

const large = 16 * 2 ** 20;

/** Records what is executed. Of `mutations`, how many run; `fails`, whether statements fail. */
function setUp() {
  const state = { mutations: 0, fails: false };
  const executed: string[] = [];
  const connection = {
    query: async () => [[String(state.mutations)]],
    async execute(_pool: string, { sql }: { sql: string }) {
      if (state.fails) throw new Error('unreachable');
      executed.push(sql.split(' ')[1]!);
    },
  } as unknown as Pick<Connection, 'execute' | 'query'>;
  const pause = createMergePause(connection, { database: 'weir', cluster: undefined });
  const insert = async (times: number, bytes = large) => {
    for (let done = 0; done < times; done++) await pause.beforeInsert(bytes);
  };
  return { state, executed, insert, pause };
}

async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await turn();
}

test.beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
test.afterEach(() => mock.timers.reset());

test('pauses merges from the first large insert until five seconds after the last', async () => {
  const { executed, insert } = setUp();
  await insert(3, large - 1);
  assert.deepEqual(executed, []);
  await insert(1);
  await pass(4_000);
  await insert(1);
  await pass(4_000);
  assert.deepEqual(executed, ['STOP']);
  await pass(1_000);
  assert.deepEqual(executed, ['STOP', 'START']);
});

test('lets merges run during every second hundred of large inserts', async () => {
  const { executed, insert } = setUp();
  await insert(100);
  assert.deepEqual(executed, ['STOP']);
  await insert(100);
  assert.deepEqual(executed, ['STOP', 'START']);
  await insert(1);
  assert.deepEqual(executed, ['STOP', 'START', 'STOP']);
});

test('does not cancel a mutation', async () => {
  const { state, executed, insert } = setUp();
  state.mutations = 1;
  await insert(2);
  assert.deepEqual(executed, []);
  state.mutations = 0;
  await insert(1);
  assert.deepEqual(executed, ['STOP']);
});

test('resumes merges once the store is reachable again', async () => {
  const { state, executed, insert } = setUp();
  await insert(1);
  state.fails = true;
  await pass(5_000);
  assert.deepEqual(executed, ['STOP']);
  state.fails = false;
  await pass(5_000);
  assert.deepEqual(executed, ['STOP', 'START']);
});

test('does nothing after close', async () => {
  const { executed, insert, pause } = setUp();
  await insert(1);
  pause.close();
  await pass(10_000);
  assert.deepEqual(executed, ['STOP']);
});
