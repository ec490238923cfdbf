/** Shell completion, in each installed shell. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { captureTerminal } from './captured-terminal.ts';
import { weirWords } from './weir-command.ts';

const cases: readonly [string, readonly string[], readonly string[]][] = [
  ['commands', ['hist'], ['histogram']],
  ['commands below a command', ['stream', 'de'], ['delete-data', 'delete']],
  ['options', ['logs', '--k8s-p'], ['--k8s-pod']],
  ['options of every command', ['tail', '--acc'], ['--account']],
  ['choices of an option', ['export', '--format', ''], ['ndjson', 'csv']],
  ['choices of an argument', ['completion', ''], ['bash', 'zsh', 'fish']],
  ['commands after options', ['--url', 'stream', 'receiver', 'act'], ['activate']],
  ['no free value', ['logs', '--host', ''], []],
  ['files', ['import', ''], [':file']],
  ['folders', ['restore', ''], [':folder']],
];
for (const [what, words, expected] of cases) {
  test(`completes ${what}`, async () => {
    const lines = (await print('__complete', ...words)).split('\n').filter((line) => line !== '');
    assert.deepEqual(
      lines.map((line) => line.split('\t')[0]),
      expected,
    );
  });
}

/** Completes `stream de` and prints the candidates, one per line. */
const shells: Readonly<Record<string, string>> = {
  bash: 'COMP_WORDS=(weir stream de); COMP_CWORD=2; _weir; printf "%s\\n" "${COMPREPLY[@]}"',
  zsh: '_describe() { print -l "${known[@]%%:*}" }; words=(weir stream de); CURRENT=3; _weir',
  fish: "complete -C 'weir stream de' | string replace -r '\\t.*' ''",
};
for (const [shell, ask] of Object.entries(shells)) {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  test(`works in ${shell}`, {
    skip: isThere ? false : `${shell} is not installed`,
  }, async () => {
    const before = shell === 'zsh' ? 'compdef() { :; };' : '';
    const weir = shell === 'fish' ? `${weirWords} $argv` : `${weirWords} "$@"`;
    const script = [
      shell === 'fish' ? `function weir; ${weir}; end` : `weir() { ${weir}; }`,
      before,
      await print('completion', shell),
      ask,
    ].join('\n');
    const { stdout, stderr } = spawnSync(shell, ['-c', script], { encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.deepEqual(stdout.trim().split('\n').toSorted(), ['delete', 'delete-data']);
  });
}

async function print(...argv: readonly string[]): Promise<string> {
  const terminal = captureTerminal();
  assert.equal(await run(argv, terminal), 0);
  return terminal.out();
}
