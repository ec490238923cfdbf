/** Progress lines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toClock, toCount, toFileLine, toSendLine, toSize } from './progress.ts';

const quiet = { accepted: 0, rejected: 0, retries: 0, elapsedMs: 0, trouble: undefined };

test('shows counts while sending a stream', () => {
  assert.equal(toSendLine(quiet), '0 sent · 0/s');
  assert.equal(
    toSendLine({
      accepted: 12_345,
      rejected: 1,
      retries: 2,
      elapsedMs: 3000,
      trouble: 'it is away',
    }),
    '12,345 sent · 1 rejected · 4,115/s · 2 retries · it is away',
  );
});

test('shows a bar and the remaining time while sending a file', () => {
  assert.equal(
    toFileLine({ ...quiet, elapsedMs: 30_000, readBytes: 25e6, totalBytes: 1e8 }),
    '[#####···············] 25 % · 25.0 MB of 100 MB · 0 sent · 0/s · 1:30 left',
  );
  assert.equal(
    toFileLine({ ...quiet, readBytes: 0, totalBytes: 10 }),
    '[····················] 0 % · 0 B of 10 B · 0 sent · 0/s',
  );
  assert.match(toFileLine({ ...quiet, readBytes: 0, totalBytes: 0 }), /^\[#{20}\] 100 %/);
});

test('formats numbers, times and sizes', () => {
  assert.deepEqual([0, 999, 1000, 1_234_567].map(toCount), ['0', '999', '1,000', '1,234,567']);
  assert.deepEqual([0, 61_000, 3_661_000].map(toClock), ['0:00', '1:01', '1:01:01']);
  const sizes = [0, 999, 1000, 99_949, 999_499, 999_500, 1.5e9, 2e15].map(toSize);
  const texts = ['0 B', '999 B', '1.0 kB', '99.9 kB', '999 kB', '1.0 MB', '1.5 GB', '2000 TB'];
  assert.deepEqual(sizes, texts);
});
