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
  return { downsampling, counted };
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

test('tries a failed day again after the others', async () => {
  const { downsampling, counted } = await planTenDays((count) => {
    if (count === 1) throw new Error('cannot count');
  });
  await assert.rejects(downsampling.rewriteNextDay(signal), /cannot count/);
  await downsampling.rewriteNextDay(signal);
  assert.equal(counted.length, 11);
  assert.equal(counted.at(-1), '01');
});
