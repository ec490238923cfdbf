/** The steps of a fence; its effect on inserts is tested in `test/scaled` and `test/store`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from './connection.ts';
import { createRestartFence, createSharedFence } from './fence.ts';

const token = { shard: 'shard', epoch: 1n };

/** A server that answers all statements except those of one kind. */
function silentAt(kind: 'query' | 'execute' | 'report'): Connection {
  const answer = async <Answer>(of: string, answered: Answer, signal?: AbortSignal) => {
    if (of !== kind) return answered;
    const { promise, reject } = Promise.withResolvers<never>();
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
    return promise;
  };
  return {
    query: (_pool: string, _statement: unknown, signal?: AbortSignal) =>
      answer('query', [['0']], signal),
    execute: (_pool: string, _statement: unknown, signal?: AbortSignal) =>
      answer('execute', undefined, signal),
    report: (_pool: string, _statement: unknown, signal: AbortSignal) =>
      answer('report', [], signal),
  } as unknown as Connection;
}

for (const kind of ['query', 'execute', 'report'] as const) {
  test(`gives up a fence when the server does not answer its ${kind}`, async (context) => {
    const timeout = new AbortController();
    context.mock.method(AbortSignal, 'timeout', () => timeout.signal);
    const fence = createSharedFence({
      connection: silentAt(kind),
      placement: { database: 'weir', cluster: undefined },
      insertQuorum: 'auto',
      events: { fenced: () => undefined },
    });
    const fenced = fence.fence(token);
    setImmediate(() => timeout.abort(new Error('no timeout is left')));
    await assert.rejects(fenced, /no timeout is left/);
  });
}

test('restarts an engine only when it has received inserts', async () => {
  let restarts = 0;
  const fails: Error[] = [];
  const fence = createRestartFence(async () => {
    restarts += 1;
    const failure = fails.pop();
    if (failure !== undefined) throw failure;
  });
  await fence.fence(token);
  assert.equal(restarts, 0);
  await fence.pass(token);
  await Promise.all([fence.fence(token), fence.fence(token)]);
  assert.equal(restarts, 1);
  await fence.fence(token);
  assert.equal(restarts, 1);

  await fence.pass(token);
  fails.push(new Error('it does not start'));
  await assert.rejects(fence.fence(token), /does not start/);
  await fence.fence(token);
  assert.equal(restarts, 3);
});

test('a concurrent fence waits for the restart', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const fence = createRestartFence(() => promise);
  await fence.pass(token);
  const first = fence.fence(token);
  let isFenced = false;
  const second = fence.fence(token).then(() => (isFenced = true));
  await new Promise((turn) => setImmediate(turn));
  assert.equal(isFenced, false);
  resolve();
  await Promise.all([first, second]);
});
