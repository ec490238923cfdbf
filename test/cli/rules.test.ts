/** `weir rules` and a service that takes long. */
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
