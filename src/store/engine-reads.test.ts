/** Reads over a Unix socket that end in the middle. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createEngineReads } from './engine-reads.ts';

const read = { statement: { sql: 'SELECT 1', params: {} }, pool: 'brief' };

type End = (stop: AbortController, answer: ServerResponse) => void;
const ends: readonly (readonly [title: string, end: End, timeoutMs: number])[] = [
  ['a read that is aborted', (stop) => stop.abort(), 30_000],
  ['an answer that breaks off', (_, answer) => answer.destroy(), 30_000],
  ['an answer that does not continue', () => undefined, 50],
];

for (const [title, end, timeoutMs] of ends) {
  test(`${title} after the first row rejects`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-reads-'));
    const socketPath = join(folder, 'socket');
    const stop = new AbortController();
    const server = createServer((_, answer) => {
      answer.write('[1]\n', () => setImmediate(end, stop, answer));
    });
    server.listen(socketPath);
    await once(server, 'listening');
    const agent = new Agent({ keepAlive: true, socketPath } as object);
    try {
      const rows = createEngineReads(agent).rows({ ...read, timeoutMs, signal: stop.signal });
      await assert.rejects(rows, /abort/i);
    } finally {
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    }
  });
}
