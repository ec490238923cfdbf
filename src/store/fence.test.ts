/** How long a fence waits for a server; what it does to inserts stands in `test/scaled`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from './connection.ts';
import { createSharedFence } from './fence.ts';

const tenure = { shard: 'shard', epoch: 1n };

/** A server that answers everything but the statements of one kind. */
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
  test(`a fence is given up where the server owes the answer to its ${kind}`, async (context) => {
    const patience = new AbortController();
    context.mock.method(AbortSignal, 'timeout', () => patience.signal);
    const fence = createSharedFence({
      connection: silentAt(kind),
      placement: { database: 'weir', cluster: undefined },
      insertQuorum: 'auto',
      events: { fenced: () => undefined },
    });
    const fenced = fence.fence(tenure);
    setImmediate(() => patience.abort(new Error('no patience is left')));
    await assert.rejects(fenced, /no patience is left/);
  });
}
