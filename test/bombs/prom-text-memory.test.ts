/** Memory of hostile pushes stays within the stated bound. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** For bodies up to 8 MiB with 200,000 samples, including the series cache. */
const mostBytes = 320 * 1024 * 1024;
const bombs = fileURLToPath(new URL('prom-text-bombs.ts', import.meta.url));

test('text bombs stay within the memory bound', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-semi-space-size=4',
    '--max-old-space-size=256',
    bombs,
  ]);
  const grown = Number(stdout);
  assert.ok(grown > 0 && grown < mostBytes, `${grown} bytes`);
});
