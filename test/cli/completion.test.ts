/** What a shell completes, asked of a real one where it is there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { captureTerminal } from './captured-terminal.ts';

const bash = await scriptFor('bash');
const missing = isThere('bash') ? false : 'bash is not installed';

const cases: readonly [string, readonly string[], readonly string[]][] = [
  ['commands', ['hist'], ['histogram']],
  ['commands below a command', ['stream', 'de'], ['delete-data', 'delete']],
  ['options', ['logs', '--k8s-p'], ['--k8s-pod']],
  ['options of every command', ['tail', '--acc'], ['--account']],
  ['choices of an option', ['export', '--format', ''], ['ndjson', 'csv']],
  ['choices of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
  ['commands behind options', ['--url', 'stream', 'receiver', 'act'], ['activate']],
  ['nothing in place of a free value', ['logs', '--host', ''], []],
];
for (const [what, words, expected] of cases) {
  test(`bash completes ${what}`, { skip: missing }, () => {
    assert.deepEqual(complete(words), expected);
  });
}

for (const shell of ['zsh', 'fish']) {
  const skip = isThere(shell) ? false : `${shell} is not installed`;
  test(`${shell} can read its script`, { skip }, async () => {
    const { status, stderr } = spawnSync(shell, ['-n'], { input: await scriptFor(shell) });
    assert.equal(status, 0, stderr.toString());
  });
}

function complete(words: readonly string[]): string[] {
  const ask = 'COMP_WORDS=(weir "$@"); COMP_CWORD=$#; _weir; printf "%s\\n" "${COMPREPLY[@]}"';
  const argv = ['--norc', '-c', `${bash}\n${ask}`, 'bash', ...words];
  const { status, stdout, stderr } = spawnSync('bash', argv, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  return stdout.split('\n').filter((word) => word !== '');
}

async function scriptFor(shell: string): Promise<string> {
  const terminal = captureTerminal();
  assert.equal(await run(['completion', shell], terminal), 0);
  return terminal.out();
}

function isThere(shell: string): boolean {
  return spawnSync(shell, ['--version']).status === 0;
}
