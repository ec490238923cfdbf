/** Which rows are read beside the counts in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogPartRow } from '../sql/part-counts.ts';
import type { CountCache } from './count-cache.ts';
import type { CountQuery } from './count-matches.ts';
import { sortParts } from './gaps.ts';
import { toPartCounts } from './part-counts.ts';
import { ticksOf } from './ticks.ts';

const minute = 60_000;
const hour = 60 * minute;

/** @param parts first and last tick of the logs of each, which is counted by the minute */
function gapsOf(parts: readonly (readonly [first: number, last: number])[]) {
  const listed = parts.map((_, i): LogPartRow => [`20260301_${i}_${i}_0`, '600', 60]);
  const cache = {
    get({ part }: { part: string }) {
      const [first, last] = parts[listed.findIndex(([name]) => name === part)]!;
      const ticks = [first, last].map((tick) => Math.floor(tick / minute) * minute);
      return toPartCounts(minute, [['stream', [], ticks, [300, 300], first, last]]);
    },
  } as unknown as CountCache;
  const nanos = (tick: number) => BigInt(tick) * 1_000_000n;
  const range = { fromNanos: nanos(hour + 1), untilNanos: nanos(2 * hour + 1) };
  const query = {
    filter: { ...range, accountId: 'account', streams: [] },
    fields: [[]],
    edges: [],
    ticks: ticksOf(range, [], 1),
    cutsFewHours: false,
  } as unknown as CountQuery;
  const { gaps } = sortParts(cache, listed, query);
  return gaps.flatMap(({ pieces }) => pieces.map(({ part, tick }) => [part.split('_')[1], tick]));
}

test('rows are read of the steps that an end of the range cuts, where a part has logs', () => {
  const beside = [
    [0, hour - 1],
    [2 * hour + minute, 3 * hour],
  ] as const;
  assert.deepEqual(gapsOf(beside), []);
  const across = [
    [0, hour + 2],
    [hour + 2 * minute, 2 * hour + 2],
  ] as const;
  assert.deepEqual(gapsOf(across), [
    ['0', hour],
    ['1', 2 * hour],
  ]);
});
