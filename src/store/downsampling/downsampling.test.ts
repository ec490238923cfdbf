/** Downsampling over a faked connection: which days a round counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DiskSpaceParts } from '../disk-space.ts';
import { createDownsampling } from './downsampling.ts';

const { signal } = new AbortController();
const dayMs = 86_400_000;
const startMs = Date.parse('2026-01-01T00:00:00Z');

/**
 * Ten days of samples of 100 streams, with nothing to delete.
 * @param onCount called with the number of counts so far, and the clock
 */
async function planTenDays(onCount: (count: number, clock: { ms: number }) => void) {
  const clock = { ms: startMs + 400 * dayMs };
  const days = Array.from({ length: 10 }, (_, i) => {
    const day = new Date(startMs + i * dayMs).toISOString().slice(0, 10).replaceAll('-', '');
    return ['samples', day, '1'];
  });
  const counted: string[] = [];
  const connection = {
    async query(_kind: string, { sql }: { sql: string }) {
      if (sql.includes('system.parts')) return days;
      if (sql.includes('system.mutations')) return [['0']];
      counted.push(/= (\d{8})/.exec(sql)![1]!.slice(-2));
      onCount(counted.length, clock);
      return [];
    },
  };
  const streams = Array.from({ length: 100 }, (_, i) => {
    return { accountId: 'a', streamId: `s${i}`, downsampling: '30d:5m' };
  });
  const placement = { database: 'weir', cluster: undefined };
  const parts = {
    store: { connection, placement },
    streams: async () => streams,
    now: () => clock.ms,
  };
  const downsampling = createDownsampling(parts as unknown as DiskSpaceParts);
  await downsampling.plan();
  return { downsampling, counted, clock };
}

test('counts days for seconds per round, each once', async () => {
  const { downsampling, counted } = await planTenDays((_, clock) => (clock.ms += 1_500));
  await downsampling.rewriteNextDay(signal);
  assert.deepEqual(counted, ['01', '02', '03', '04']);
  for (let round = 0; round < 3; round++) await downsampling.rewriteNextDay(signal);
  assert.deepEqual(counted.slice(4), ['05', '06', '07', '08', '09', '10']);
  await downsampling.plan();
  await downsampling.rewriteNextDay(signal);
  assert.equal(counted.length, 10);
});

test('begins no count after the closing signal', async () => {
  const closing = new AbortController();
  const { downsampling, counted } = await planTenDays(() => closing.abort());
  await downsampling.rewriteNextDay(closing.signal);
  assert.deepEqual(counted, ['01']);
});

test('retries a failed day with backoff, up to a day, beside the others', async () => {
  let failures = 0;
  const { downsampling, counted, clock } = await planTenDays(() => {
    if (counted.at(-1) !== '01') return;
    failures++;
    throw new Error('cannot count');
  });
  const rounds = async (ms: number) => {
    const untilMs = clock.ms + ms;
    for (; clock.ms < untilMs; clock.ms += 10_000) {
      await downsampling.rewriteNextDay(signal).catch(() => undefined);
    }
  };
  await rounds(20_000);
  assert.deepEqual([counted.length, failures], [11, 2]);
  await rounds(3_600_000);
  assert.deepEqual([counted.length, failures], [18, 9]);
  await downsampling.plan();
  await rounds(3_600_000);
  assert.equal(failures, 10, 'a new plan keeps the wait');
  await rounds(30 * dayMs);
  assert.ok(failures > 35 && failures < 50, `${failures}`);
});
