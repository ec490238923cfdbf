/** A reader that leaves a pipe early must not make a command fail loudly. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const weir = fileURLToPath(new URL('../../src/cli/weir.ts', import.meta.url));

test('a closed pipe ends a command without a word', () => {
  // `true` is gone long before Node has started.
  const { stderr } = spawnSync('sh', ['-c', '"$0" "$1" --help | true', process.execPath, weir], {
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
});
