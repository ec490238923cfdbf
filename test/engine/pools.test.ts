/** Inserts, reads and housekeeping do not wait for each other. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { clientOf, endless, openTestEngine, until } from './harness.ts';

test('delays neither inserts nor housekeeping by a slow read, and bounds the queue', async (t) => {
  const { client, engine } = await openTestEngine(t, { readMembers: 1, maxWaitingQueries: 1 });
  const leaver = new AbortController();
  const running = client.query({ query: endless, abort_signal: leaver.signal });
  let hasEnded = false;
  running
    .catch(() => undefined)
    .finally(() => {
      hasEnded = true;
    });
  const processes = "SELECT count() AS n FROM system.processes WHERE query LIKE '%sipHash64%'";
  const asHousekeeping = { 'X-Weir-Pool': 'housekeeping' };
  await until(async () => {
    const answer = await client.query({
      query: processes,
      format: 'JSONEachRow',
      http_headers: asHousekeeping,
    });
    const [row] = await answer.json<{ n: number }>();
    return row?.n === 2;
  });
  await client.command({ query: 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a' });
  await client.insert({ table: 't', values: [{ a: 1 }], format: 'JSONEachRow' });
  assert.equal(hasEnded, false);

  const waiting = client.query({ query: 'SELECT 1 AS one', format: 'JSONEachRow' });
  const other = clientOf(engine.socketPath);
  t.after(() => other.close());
  await until(async () => {
    const refusal = await other.query({ query: 'SELECT 2' }).catch((error: unknown) => error);
    return (refusal as { code?: string }).code === '202';
  });
  leaver.abort();
  assert.deepEqual(await (await waiting).json(), [{ one: 1 }]);
});

const needsCapability = process.getuid?.() === 0 && process.platform === 'linux';

test('searches yield the CPU', { skip: !needsCapability && 'needs CAP_SYS_NICE' }, async (t) => {
  const { client, engine } = await openTestEngine(t);
  const leaver = new AbortController();
  const search = client.query({ query: endless, abort_signal: leaver.signal });
  search.catch(() => undefined);
  t.after(() => leaver.abort());
  await until(async () => niceThreads(engine.pid!) > 0);
});

/** Threads of the process with a lower priority; `man proc_pid_stat`. */
function niceThreads(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).filter((thread) => {
    const afterName = statOf(pid, thread).split(') ').at(-1)!.split(' ');
    return Number(afterName[16]) > 0;
  }).length;
}

/** Empty once the thread has ended. */
function statOf(pid: number, thread: string): string {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
  } catch {
    return '';
  }
}
