/** Pushes made to cost memory cost no more than stated, whatever is in them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Of bodies up to 8 MiB with 200,000 samples, the memory of the series cache included. */
const mostBytes = 320 * 1024 * 1024;
const bombs = fileURLToPath(new URL('prom-text-bombs.ts', import.meta.url));

test('bombs of text stay within a bound of memory', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-semi-space-size=4',
    '--max-old-space-size=256',
    bombs,
  ]);
  const grown = Number(stdout);
  assert.ok(grown > 0 && grown < mostBytes, `${grown} bytes`);
});
