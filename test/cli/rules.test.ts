/** `weir rules preview`: its time limit, and groups that are not due. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { captureTerminal } from './captured-terminal.ts';
import { startScriptedServer } from './scripted-server.ts';

test('a preview waits for a service that reads groups for minutes', async (context) => {
  const file = join(temporaryFolder(), 'rules.yaml');
  writeFileSync(file, 'groups: []\n');
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const server = await startScriptedServer(({ path }) => {
    if (path.endsWith('/streams')) return { status: 200, body: { streams: [{ streamId: 's' }] } };
    context.mock.timers.tick(590_000);
    return { status: 200, body: { alerts: [], groups: [] } };
  });
  context.after(() => server.close());
  const terminal = captureTerminal();
  const connection = ['--url', server.url, '--token', 't', '--account', 'a'];
  const code = await run(['rules', 'preview', file, ...connection], terminal);
  assert.deepEqual([code, terminal.error()], [0, '']);
});

test('a preview names groups that are not due within its time', async (context) => {
  const file = join(temporaryFolder(), 'rules.yaml');
  writeFileSync(file, 'groups: []\n');
  const [since, until] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:10.000Z'];
  const groups = [
    { name: 'a', evaluations: 0, failures: [] },
    { name: 'b', evaluations: 1, failures: [] },
  ];
  const server = await startScriptedServer(({ path }) =>
    path.endsWith('/streams')
      ? { status: 200, body: { streams: [{ streamId: 's' }] } }
      : { status: 200, body: { alerts: [], groups } },
  );
  context.after(() => server.close());
  const terminal = captureTerminal();
  const connection = ['--url', server.url, '--token', 't', '--account', 'a'];
  const times = ['--since', since, '--until', until];
  const code = await run(['rules', 'preview', file, ...times, ...connection], terminal);
  const told = `weir: group "a" is not due between ${since} and ${until}\n`;
  assert.deepEqual([code, terminal.error()], [0, told]);
});
