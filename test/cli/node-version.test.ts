/** The command on an outdated Node. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

test('refuses an outdated Node in one sentence', () => {
  const weir = fileURLToPath(new URL('../../src/cli/weir.ts', import.meta.url));
  const versions = `{ value: { ...process.versions, node: '20.19.2' } }`;
  const pretend = `data:text/javascript,Object.defineProperty(process,'versions',${versions})`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', pretend, weir, 'whoami'],
    { encoding: 'utf8' },
  );
  assert.equal(stderr, 'weir needs Node 24 or newer; this is 20.19.2\n');
  assert.equal(stdout, '');
  assert.equal(status, 1);
});
