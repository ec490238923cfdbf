/**
 * Long responses: a slow reader costs no memory, a broken one leaves nothing that looks complete.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { run } from '../../src/cli/program.ts';
import { until } from '../harness/until.ts';
import { captureTerminal } from './captured-terminal.ts';
import { environmentFor, startEventServer } from './event-server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const entry = fileURLToPath(new URL('../../src/cli/weir.ts', import.meta.url));
const line = `${JSON.stringify({ message: 'x'.repeat(1_000) })}\n`;

test('back-pressure of the pipe reaches the service', async () => {
  let sent = 0;
  const server = await startEventServer((_request, response) => {
    sendForever(response, (bytes) => (sent += bytes));
  });
  const child = spawn(process.execPath, [entry, 'export'], {
    env: environmentFor(server.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // The pipe is not read: eventually the service cannot send.
  let before = -1;
  let stalled = 0;
  await until(
    () => {
      stalled = sent > 0 && sent === before ? stalled + 1 : 0;
      before = sent;
      return stalled === 10;
    },
    { what: 'the service to be blocked by back-pressure', everyMs: 50 },
  );
  assert.ok(sent < 32_000_000, `${sent} bytes are in flight`);
  const ended = new Promise((resolve) => child.on('exit', resolve));
  child.stdout.destroy();
  assert.equal(await ended, 0, 'a reader that disconnects ends it without an error');
  await server.close();
});

test('an interrupted export keeps the existing file', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'logs.ndjson');
  writeFileSync(file, 'old');
  const server = await startEventServer((_request, response) => {
    response.writeHead(200);
    response.write(line.repeat(100), () => response.destroy());
  });
  const terminal = captureTerminal({ environment: environmentFor(server.url) });
  assert.equal(await run(['export', '-o', file], terminal), 1);
  assert.match(terminal.error(), /^weir: cannot read the whole response: the connection broke/);
  assert.deepEqual(readdirSync(folder), ['logs.ndjson']);
  await server.close();
});

test('an export replaces the target of a link, and no pipe', async () => {
  const folder = temporaryFolder();
  const [file, link, pipe] = ['logs.ndjson', 'link', 'pipe'].map((name) => join(folder, name));
  assert.ok(file && link && pipe);
  writeFileSync(file, 'old');
  symlinkSync(file, link);
  execFileSync('mkfifo', [pipe]);
  const piped = promisify(execFile)('cat', [pipe]);
  const server = await startEventServer((_request, response) => response.end(line));
  const environment = environmentFor(server.url);
  for (const output of [link, pipe]) {
    const terminal = captureTerminal({ environment });
    assert.equal(await run(['export', '-o', output], terminal), 0, terminal.error());
  }
  assert.equal(readFileSync(file, 'utf8'), line);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.equal((await piped).stdout, line);
  assert.ok(lstatSync(pipe).isFIFO());
  assert.deepEqual(readdirSync(folder).toSorted(), ['link', 'logs.ndjson', 'pipe']);
  await server.close();
});

test('Ctrl-C ends an export with 130 and leaves nothing', async () => {
  const folder = temporaryFolder();
  const interrupted = new AbortController();
  const server = await startEventServer((_request, response) => {
    response.writeHead(200);
    response.write(line, () => interrupted.abort());
  });
  const { signal } = interrupted;
  const terminal = captureTerminal({ environment: environmentFor(server.url), signal });
  assert.equal(await run(['export', '-o', join(folder, 'logs.ndjson')], terminal), 130);
  assert.equal(terminal.error(), '');
  assert.deepEqual(readdirSync(folder), []);
  await server.close();
});

function sendForever(response: ServerResponse, count: (bytes: number) => void): void {
  const send = () => {
    if (response.destroyed) return;
    let hasRoom = true;
    while (hasRoom) {
      hasRoom = response.write(line);
      count(line.length);
    }
    response.once('drain', send);
  };
  send();
}
