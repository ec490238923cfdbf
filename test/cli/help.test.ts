/** Every command has help, and docs/cli.md lists them all. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Command, Help } from 'commander';
import { commandNames, createProgram, run } from '../../src/cli/program.ts';
import { captureTerminal } from './captured-terminal.ts';

const program = await createProgram(captureTerminal(), commandNames);
const commands = program.commands.flatMap((command) => pathsOf(command, []));

function pathsOf(command: Command, above: readonly string[]): { path: readonly string[] }[] {
  const path = [...above, command.name()];
  const below = command.commands.flatMap((each) => pathsOf(each, path));
  return below.length === 0 ? [{ path }] : below;
}

test('shows commands with their arguments and options', () => {
  const help = new Help();
  const shown = program.createHelp();
  for (const command of program.commands) {
    assert.equal(shown.subcommandTerm(command), help.subcommandTerm(command));
  }
});

test('each command has examples and exit codes', async () => {
  assert.ok(commands.length > 25);
  for (const { path } of commands) {
    const terminal = captureTerminal();
    // `serve` prints its own help, with all settings.
    const argv = path[0] === 'serve' ? ['help', 'serve'] : [...path, '--help'];
    assert.equal(await run(argv, terminal), 0);
    assert.match(terminal.out(), /\n(Examples|Set it up):\n {2}/, path.join(' '));
    assert.match(terminal.out(), /Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted\./);
  }
});

test('the default range of a preview is shown as a duration', async () => {
  const terminal = captureTerminal();
  assert.equal(await run(['rules', 'preview', '--help'], terminal), 0);
  assert.match(terminal.out().replaceAll(/\s+/g, ' '), /--since <time> .*\(default: 1d\)/);
});

test('docs/cli.md lists exactly the existing commands', () => {
  const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `weir '));
  const listed = rows.flatMap((row) => {
    const cell = row.split('|')[1] ?? '';
    const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
    const [, command = '', below = ''] = first.split(' ');
    if (!/^[a-z]/.test(below)) return [command];
    return [below, ...others].map((name) => `${command} ${name}`);
  });
  assert.deepEqual(listed.toSorted(), commands.map(({ path }) => path.join(' ')).toSorted());
});
