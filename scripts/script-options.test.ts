/** Usage and wrong options of scripts. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

function run(...args: readonly string[]) {
  return runScript('demo-data.ts', ...args);
}

function runScript(name: string, ...args: readonly string[]) {
  const script = fileURLToPath(new URL(name, import.meta.url));
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
}

test('--help prints the purpose of the script and its options', () => {
  const { status, stdout } = run('--help');
  assert.equal(status, 0);
  assert.match(stdout, /^`npm run demo-data -- /);
  assert.match(stdout, /^ {2}--hours VALUE {2}\(default 24\)$/m);
});

test('a wrong option is named, without a stack trace', () => {
  const { status, stdout, stderr } = run('--ours', '3');
  assert.equal(status, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /^Unknown option '--ours'/);
  assert.doesNotMatch(stderr, /^ +at /m);
});

test('scripts that pass their arguments on, and those of the explorer, have --help', () => {
  const scripts = {
    'test.ts': /^`npm test`: unit tests [^]*`npm test -- --test-name-pattern=alerts`\.\n$/,
    'start.ts': /^Usage: weir serve /,
    '../test/explorer/screenshots.ts': /^`npm run screenshots`: [^]*--folder VALUE\n$/,
  };
  for (const [name, help] of Object.entries(scripts)) {
    const { status, stdout } = runScript(name, '--help');
    assert.equal(status, 0, name);
    assert.match(stdout, help);
  }
});
