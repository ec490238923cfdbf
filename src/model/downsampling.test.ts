/** Levels of downsampling as text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { levelBeyondRetention, parseDownsampling } from './downsampling.ts';

test('reads levels', () => {
  assert.deepEqual(parseDownsampling('30d:5m,180d:1h'), [
    { afterDays: 30, intervalMs: 300_000 },
    { afterDays: 180, intervalMs: 3_600_000 },
  ]);
  assert.deepEqual(parseDownsampling('1d:24h'), [{ afterDays: 1, intervalMs: 86_400_000 }]);
});

test('refuses what is no level, and levels that are not coarser than those before', () => {
  const refused = [
    '',
    '30d',
    '30d:5',
    '30d:5s',
    '0d:5m',
    '30d:0m',
    '30d:25h',
    '30d:5m,',
    '30d:5m, 60d:1h',
    '30d:5m,30d:1h',
    '60d:5m,30d:1h',
    '30d:5m,60d:5m',
    '30d:1h,60d:5m',
    '30d:5m,60d:7m',
  ];
  for (const text of refused) assert.equal(parseDownsampling(text), undefined, text);
});

test('names the first level that is not reached before the retention ends', () => {
  assert.equal(levelBeyondRetention('30d:5m,180d:1h', 181), undefined);
  assert.equal(levelBeyondRetention('30d:5m,180d:1h', 180), '180d:1h');
  assert.equal(levelBeyondRetention('30d:5m,180d:1h', 7), '30d:5m');
  assert.equal(levelBeyondRetention(null, 1), undefined);
});
