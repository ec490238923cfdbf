/** Queries whose client disconnects, and queries that may have written. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { toEngineRequest } from './http-request.ts';
import type { Member } from './member.ts';
import { createPool } from './pool.ts';
import type { Reply } from './reply.ts';
import { type QueryParts, runQuery } from './run-query.ts';
import { createRunningQueries } from './kill-query.ts';

const text = (value: string) => new TextEncoder().encode(value);

test('does not start the query of a client that has disconnected', async () => {
  const leaver = new AbortController();
  const { run, began, pool } = setUp({ configure: async () => leaver.abort() });
  await assert.rejects(run(leaver.signal), { code: 394 });
  assert.deepEqual(began, []);
  // The member was released.
  pool.release(await pool.acquire('', new AbortController().signal));
});

test('kills the running query of a client that disconnects', async () => {
  const leaver = new AbortController();
  const ended = Promise.withResolvers<never>();
  const { run, killed } = setUp({
    query: () => {
      leaver.abort();
      return ended.promise;
    },
    onKill: () => ended.reject(new Error('Code: 394. DB::Exception: Query was cancelled')),
  });
  await assert.rejects(run(leaver.signal), /394/);
  assert.equal(killed.length, 1);
});

test('checks for failed writes without holding the member that the check needs', async () => {
  const { run, pool } = setUp({
    async query() {
      await delay(60);
      return { bytes: new Uint8Array(), rowsRead: 0, bytesRead: 0 };
    },
    async check() {
      const signal = AbortSignal.timeout(1_000);
      pool.release(await pool.acquire('', signal));
    },
  });
  await run(new AbortController().signal);
});

interface Fake extends Partial<Member> {
  readonly onKill?: () => void;
  readonly check?: () => Promise<void>;
}

function setUp(fake: Fake) {
  const began: string[] = [];
  const killed: string[] = [];
  const member: Member = {
    configure: async () => undefined,
    async query(sql) {
      began.push(sql);
      return { bytes: new Uint8Array(), rowsRead: 0, bytesRead: 0 };
    },
    stream: () => assert.fail('no query here is streamed'),
    close: () => undefined,
    ...fake,
  };
  const pool = createPool('read', [member], 1);
  const parts: QueryParts = {
    pools: { read: pool, brief: pool, insert: pool, housekeeping: pool, control: pool },
    spool: { write: () => assert.fail('no query here has data') },
    running: createRunningQueries(async (marks) => {
      killed.push(...marks);
      fake.onKill?.();
    }),
    control: () => assert.fail('no query here is a KILL'),
    writes: { check: fake.check ?? (async () => undefined) },
    storePath: '.',
  };
  const fields = new Map([
    ['query', text('SELECT 1')],
    ['wait_end_of_query', text('1')],
  ]);
  const reply = { whole: async () => undefined } as unknown as Reply;
  const run = (signal: AbortSignal) => {
    const request = toEngineRequest(fields, {});
    return runQuery(parts, { request, body: Readable.from([]), reply, signal });
  };
  return { run, began, killed, pool };
}
