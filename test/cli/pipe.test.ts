/** Commands whose reader closes the pipe early. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const weir = fileURLToPath(new URL('../../src/cli/weir.ts', import.meta.url));

const noFull = existsSync('/dev/full') ? false : 'there is no /dev/full';
test('reports a full disk in a sentence and fails', { skip: noFull }, () => {
  const line = '"$0" "$1" --help > /dev/full';
  const { status, stderr } = spawnSync('sh', ['-c', line, process.execPath, weir], {
    encoding: 'utf8',
  });
  assert.match(stderr, /^weir: cannot write to standard output: ENOSPC.*\n$/);
  assert.equal(status, 1);
});

test('a closed pipe ends a command silently', () => {
  // `true` exits long before Node has started.
  const { stderr } = spawnSync('sh', ['-c', '"$0" "$1" --help | true', process.execPath, weir], {
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
});
