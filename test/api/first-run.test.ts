/** The first start, the printed curl, a restart, the operations port, a graceful stop. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { openBrowser } from '../harness/browser.ts';
import { createIngestToken, createReceiver } from '../harness/control.ts';
import { sendPlain } from '../harness/http.ts';
import { startService, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { startWeir } from '../harness/weir-process.ts';

const run = promisify(execFile);
const anyPorts = ['--ingest-port', '0', '--stream-port', '0', '--ops-port', '0'];

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

test('quickstart.json is readable by its owner only', () => {
  const { mode } = statSync(join(service.dataDir, 'quickstart.json'));
  assert.equal((mode & 0o777).toString(8), '600');
});

test('each printed curl works when pasted', async () => {
  const commands = await until(() => curlsIn(service.process.stdout()), { what: 'printed curls' });
  assert.ok(commands.length >= 2, service.process.stdout());
  for (const command of commands) {
    const { stdout } = await run('bash', ['-c', `${command} --silent --show-error --fail`]);
    assert.doesNotThrow(() => JSON.parse(stdout), `${command}\n${stdout}`);
  }
});

test('the start names the command for another link as it is run from a checkout', () => {
  assert.match(service.process.stdout(), / npm run weir -- open prints another/);
});

test('receivers name the CA certificate of this service', async () => {
  const { receivers, caFile } = service.quickstart;
  const { receiverId } = receivers.http_json;
  const answer = await service.admin('GET', `/receivers/${receiverId}`);
  assert.equal(answer.json<{ caFile?: string }>().caFile, caFile);
});

test('the log of the printed curl appears in /api/v1/logs', async () => {
  await until(async () => (await service.list()).logs.length > 0, { what: 'the curl’s log' });
});

test('healthz, readyz and metrics are served on the operations port', async () => {
  const { opsUrl } = service.quickstart;
  assert.equal((await sendPlain(`${opsUrl}/healthz`)).status, 200);
  assert.equal((await sendPlain(`${opsUrl}/readyz`)).status, 200);
  const { text, headers } = await sendPlain(`${opsUrl}/metrics`);
  assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(text, /^# TYPE weir_/m);
});

test('both ports publish an OpenAPI 3.1 document', async () => {
  const { ingestUrl, streamUrl } = service.quickstart;
  for (const url of [ingestUrl, streamUrl]) {
    const answer = await service.http.send(`${url}/openapi.json`);
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.json<{ openapi: string }>().openapi, /^3\.1\./);
  }
});

test('tokens, receivers, logs and sessions survive a restart and a kill', async () => {
  const before_ = service.quickstart;
  const browser = openBrowser(service);
  const [, code = ''] = /\/#sign-in=(wrl_\w+)/.exec(service.process.stdout()) ?? [];
  await browser.signIn(code);
  const isSignedIn = async () => (await browser.send('GET', '/api/v1/admin/whoami')).status === 200;
  await service.postLogs({ message: 'before the restart', service_name: 'restart' });
  const ended = await service.kill('SIGTERM');
  assert.deepEqual(ended, { code: 0, signal: null });
  await service.start();
  assert.ok(await isSignedIn());
  const event = { message: 'before the kill', service_name: 'restart' };
  const key = { 'idempotency-key': 'through-a-kill' };
  const first = await service.postLogs(event, key);
  const { receiverId } = await createReceiver(service, { name: 'before the kill' });
  const { token } = await createIngestToken(service, receiverId);
  await service.kill('SIGKILL');
  await service.start();
  assert.ok(await isSignedIn());
  assert.equal(service.quickstart.accessToken, before_.accessToken);
  assert.deepEqual(service.quickstart.receivers.http_json.token, before_.receivers.http_json.token);
  const repeated = await service.postLogs(event, key);
  assert.deepEqual([repeated.status, repeated.text], [first.status, first.text]);
  const { ingestUrl } = service.quickstart;
  const sent = await service.http.send(`${ingestUrl}/v1/receivers/${receiverId}/logs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'after the kill', service_name: 'restart' }),
  });
  assert.equal(sent.status, 202, sent.text);
  const messages = await until(
    async () => {
      const { logs } = await service.list({ serviceName: 'restart' });
      return logs.some(({ message }) => message === 'after the kill') && logs;
    },
    { what: 'the last log to be readable' },
  );
  assert.deepEqual(
    messages.map(({ message }) => message),
    ['after the kill', 'before the kill', 'before the restart'],
  );
});

test('a second process on the same directory exits with a clear message', async () => {
  const second = startWeir(['serve', '--data', service.dataDir, ...anyPorts]);
  const { code } = await second.exited;
  const said = second.logs.map(({ raw }) => raw).join('\n');
  assert.notEqual(code, 0);
  assert.match(said, /cannot .*(in use|another|already|lock)/i);
});

test('a stop signal right after the start stops gracefully', async () => {
  await using parts = new AsyncDisposableStack();
  const dataDir = parts.adopt(mkdtempSync(join(tmpdir(), 'weir-test-')), (it) =>
    rmSync(it, { recursive: true }),
  );
  const weir = startWeir(['serve', '--data', dataDir, ...anyPorts]);
  const isOpen = () => existsSync(join(dataDir, 'quickstart.json'));
  await until(isOpen, { what: 'quickstart.json', everyMs: 1 });
  weir.kill('SIGTERM');
  assert.deepEqual(await weir.exited, { code: 0, signal: null });
});

test('a stop signal while waiting for a server stops at once', async () => {
  await using parts = new AsyncDisposableStack();
  const dataDir = parts.adopt(mkdtempSync(join(tmpdir(), 'weir-test-')), (it) =>
    rmSync(it, { recursive: true }),
  );
  const nobody = ['--directory-url', 'postgres://127.0.0.1:1/weir'];
  const weir = startWeir(['serve', '--data', dataDir, ...nobody, ...anyPorts]);
  await until(() => weir.logs.length > 0, { what: 'a log line with the reason of the wait' });
  weir.kill('SIGTERM');
  assert.deepEqual(await weir.exited, { code: null, signal: 'SIGTERM' });
});

test('weir --version prints the version', async () => {
  const { code } = await startWeir(['--version']).exited;
  assert.equal(code, 0);
});

/** Commands that begin with curl, with continuation lines joined. */
function curlsIn(text: string): string[] | undefined {
  const joined = text.replaceAll(/\\\n\s*/g, ' ');
  const found = joined.split('\n').flatMap((line) => /^\s*(curl .*)$/.exec(line)?.[1] ?? []);
  return found.length === 0 ? undefined : found;
}
