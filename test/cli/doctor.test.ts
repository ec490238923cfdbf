/** `weir doctor` finds each fault, distinguishes it from others, and gives advice. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { run } from '../../src/cli/program.ts';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import { createAccessToken, createIngestToken, createReceiver } from '../harness/control.ts';
import { type Service, startService } from '../harness/service.ts';
import { captureTerminal } from './captured-terminal.ts';
import { type Scripted, startScriptedServer } from './scripted-server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const folder = temporaryFolder();
let service: Service;
before(async () => {
  service = await startService();
});
after(async () => {
  await service.stop();
});

test('a healthy service', async () => {
  const { code, out } = await doctor(['--data', service.dataDir]);
  assert.equal(code, 0, out);
  assert.ok(out.endsWith('no problems found\n'), out);
  assert.doesNotMatch(out, /^(?:warn|fail|skip)/m);
  const named = ['disk', 'ingest certificate', 'sending', 'reading', 'clock', 'engine'];
  for (const check of [...named, 'stored data']) {
    assert.match(out, new RegExp(`^ok {4}${check} `, 'm'));
  }
  assert.equal((await service.list()).logs.length, 0, 'no log may be stored');
});

test('a revoked ingest token', async () => {
  const receiver = await createReceiver(service);
  const { tokenId, token } = await createIngestToken(service, receiver.receiverId);
  await service.admin('POST', `/tokens/${tokenId}/revoke`);
  const found = await examine(['--ingest-token', token]);
  assertFault(found['sending'], 'fail', /\(401\)/, /weir token create/);
  assert.equal(found['reading']?.status, 'ok');
});

test('a revoked and an unknown access token', async () => {
  const { tokenId, token } = await createAccessToken(service, ['logs:read']);
  await service.admin('POST', `/tokens/${tokenId}/revoke`);
  for (const secret of [token, 'wra_unknown']) {
    const found = await examine(['--token', secret]);
    assertFault(found['access token'], 'fail', /refused: .*\(401\)/, /weir token recover/);
    assert.equal(found['sending']?.status, 'ok');
  }
});

test('a token for another account, or without the scope to read', async () => {
  const { token } = await createAccessToken(service, ['analytics:read']);
  const other = '00000000-0000-4000-8000-000000000000';
  const closed = await examine(['--token', token, '--account', other]);
  assertFault(closed['access token'], 'fail', /does not grant the account/, /--account/);
  const blind = await examine(['--token', token]);
  assert.equal(blind['access token']?.status, 'ok');
  assert.equal(blind['reading']?.status, 'skip');
});

test('an inactive receiver', async () => {
  const { receiverId } = await createReceiver(service, { name: 'asleep', active: false });
  const { token } = await createIngestToken(service, receiverId);
  const url = `${service.quickstart.ingestUrl}/v1/receivers/${receiverId}/logs`;
  const found = await examine(['--receiver-url', url, '--ingest-token', token]);
  assertFault(found['sending'], 'fail', /\(403\)/, /receiver show RECEIVER_ID: state/);
  assertFault(found['receivers'], 'warn', /asleep/, new RegExp(`receiver activate ${receiverId}`));
  await service.admin('DELETE', `/receivers/${receiverId}`);
});

test('a receiver URL with something appended', async () => {
  const { url, token } = service.quickstart.receivers.http_json;
  const found = await examine(['--receiver-url', `${url}/logs`, '--ingest-token', token]);
  assertFault(found['sending'], 'fail', /\(404\)/, /with nothing appended/);
});

test('a wrong and a missing certificate authority', async () => {
  const foreign = join(folder, 'foreign');
  await ensureLocalCertificate(foreign, new Date());
  const found = await examine(['--ca-file', join(foreign, 'ca.pem')]);
  for (const check of ['ingest certificate', 'stream certificate']) {
    assertFault(found[check], 'fail', /not trusted/, /--ca-file/);
  }
  assert.equal(found['sending']?.status, 'skip');
  const absent = await examine(['--ca-file', join(folder, 'none.pem')]);
  assertFault(absent['authority'], 'fail', /ENOENT/, /--ca-file/);
});

test('a stopped service and an unknown host', async () => {
  const gone = await startScriptedServer(() => ({ status: 200 }));
  await gone.close();
  const down = await examine(['--url', gone.url.replace('http:', 'https:')]);
  assertFault(down['stream address'], 'fail', /nothing listens there/, /start the service/);
  assert.equal(down['reading']?.status, 'skip');
  const nowhere = await examine(['--url', 'https://no-such-host.invalid:1']);
  assert.equal(nowhere['stream address']?.status, 'fail');
});

test('a certificate that has expired', async () => {
  const tls = join(folder, 'expired');
  const yearMs = 365 * 24 * 3600 * 1000;
  const material = await ensureLocalCertificate(tls, new Date(Date.now() - 2 * yearMs));
  const found = await examineFake({}, { tls: material, ca: join(tls, 'ca.pem') });
  assertFault(found['stream certificate'], 'fail', /has expired/, /renew it/);
});

test('a certificate for other names', async () => {
  const tls = join(folder, 'names');
  const material = await ensureLocalCertificate(tls, new Date());
  const options = { tls: material, ca: join(tls, 'ca.pem'), host: '127.0.0.2' };
  const found = await examineFake({}, options);
  assertFault(found['stream certificate'], 'fail', /for other names/, /DNS:localhost/);
});

test('a port without HTTP/2, and one without TLS', async () => {
  const tls = join(folder, 'http1');
  const material = await ensureLocalCertificate(tls, new Date());
  const found = await examineFake({}, { tls: material, ca: join(tls, 'ca.pem') });
  assert.equal(found['stream certificate']?.status, 'ok');
  assertFault(found['stream HTTP/2'], 'warn', /not offered/, /ALPN/);
  const plain = await examineFake({});
  assertFault(plain['stream certificate'], 'warn', /not encrypted/, /https/);
  const server = await startScriptedServer(() => ({ status: 200 }));
  const wrong = await examine(['--url', server.url.replace('http:', 'https:')]);
  assertFault(wrong['stream certificate'], 'fail', /TLS handshake failed/, /this port/);
  await server.close();
});

test('a slow clock, another version, an unavailable store', async () => {
  const ahead = new Date(Date.now() + 60_000).toUTCString();
  const found = await examineFake({
    '/healthz': { status: 200, headers: { date: ahead }, body: { status: 'ok' } },
    '/readyz': { status: 503, body: { status: 'not ready', missing: ['store'] } },
    '/openapi.json': { status: 200, body: { info: { version: '99.0.0' } } },
    '/api/v1/admin/whoami': {
      status: 200,
      body: { tokenId: 't', scopes: ['logs:read'], accounts: [{ accountId: 'a', name: 'acme' }] },
    },
    '/api/v1/logs?limit=1': { status: 503, body: { detail: 'cannot reach the store' } },
  });
  assertFault(found['clock'], 'warn', /behind the service/, /NTP/);
  assertFault(found['version'], 'warn', /99\.0\.0/, /the command that comes with/);
  assertFault(found['stream service'], 'fail', /not ready \(503\): store/, /engine/);
  assertFault(found['reading'], 'fail', /cannot reach the store \(503\)/, /engine/);
});

test('an unavailable directory is not an invalid token', async () => {
  const found = await examineFake({
    '/api/v1/admin/whoami': { status: 503, body: { detail: 'cannot reach the directory' } },
  });
  assertFault(found['access token'], 'fail', /the directory \(503\)/, /directory\.url/);
});

test('accepts a clock within two seconds', async () => {
  for (const skewMs of [-1500, 1500]) {
    const date = new Date(Date.now() + skewMs).toUTCString();
    const health = { status: 200, headers: { date }, body: { status: 'ok' } };
    const found = await examineFake({ '/healthz': health });
    assert.equal(found['clock']?.status, 'ok', `${skewMs} ms`);
  }
});

test('a server other than Weir, and one that never responds', async () => {
  const found = await examineFake({ '/healthz': { status: 404 } });
  assertFault(found['stream service'], 'fail', /not Weir \(404/, /address of Weir/);
  assert.equal(found['access token'], undefined, 'the token must not be sent to another server');
});

test('a stuck queue and a stopped engine', async () => {
  const metrics = [
    'weir_queue_writable 1',
    'weir_queue_rows 5000',
    'weir_queue_oldest_age_seconds 120',
    'weir_engine_up 0',
  ].join('\n');
  const server = await startScriptedServer(() => ({ status: 200, text: metrics }));
  const found = await examine(['--ops-url', server.url]);
  assertFault(
    found['queue'],
    'warn',
    /5,000 rows waiting, the oldest for 120/,
    /the store is slow/,
  );
  assertFault(found['engine'], 'fail', /not running/, /restarts it/);
  await server.close();
});

test('a queue that lost acknowledged batches', async () => {
  const metrics = [
    'weir_queue_writable 1',
    'weir_queue_rows 0',
    'weir_queue_oldest_age_seconds 0',
    'weir_queue_lost_batches_total 2',
  ].join('\n');
  const server = await startScriptedServer(() => ({ status: 200, text: metrics }));
  const found = await examine(['--ops-url', server.url]);
  assertFault(found['queue'], 'fail', /2 acknowledged batches are lost/, /A damaged log/);
  await server.close();
});

test('detached parts and wrong checksums', async () => {
  const metrics = [
    'weir_store_damaged_parts{state="detached"} 2',
    'weir_store_damaged_parts{state="corrupt"} 1',
    'weir_store_corruption_errors_total 4',
  ].join('\n');
  const server = await startScriptedServer(() => ({ status: 200, text: metrics }));
  const found = await examine(['--ops-url', server.url]);
  assertFault(found['stored data'], 'fail', /3 parts are damaged, and 4 reads/, /runbook/);
  await server.close();
});

test('servers that a node uses, and a NATS queue that refuses', async () => {
  const metrics = [
    'weir_queue_connected 0',
    'weir_queue_writable 0',
    'weir_store_reachable 0',
    'weir_quota_store_connected 0',
    'weir_directory_connected 0',
  ].join('\n');
  const server = await startScriptedServer(() => ({ status: 200, text: metrics }));
  const found = await examine(['--ops-url', server.url]);
  assertFault(found['queue'], 'fail', /accepts no logs/, /check NATS/);
  assertFault(found['limits'], 'fail', /limits get 503/, /quota\.password/);
  assertFault(found['store'], 'fail', /events wait in the queue/, /store\.url/);
  assertFault(found['directory'], 'fail', /PostgreSQL does not respond/, /directory\.url/);
  await server.close();
});

test('a store that refuses connections, visible in readiness only', async () => {
  const server = await startScriptedServer(({ path }) =>
    path === '/readyz'
      ? { status: 503, body: { status: 'not ready', missing: ['store'] } }
      : { status: 200, text: 'weir_queue_writable 1\nweir_store_reachable 1\n' },
  );
  const found = await examine(['--ops-url', server.url]);
  assertFault(found['store'], 'fail', /events wait in the queue/, /store\.url/);
  assert.equal(found['queue']?.status, 'ok');
  await server.close();
});

test('an engine-only node has no queue', async () => {
  const server = await startScriptedServer(() => ({ status: 200, text: 'weir_engine_up 1\n' }));
  const found = await examine(['--ops-url', server.url]);
  assert.equal(found['queue']?.status, 'skip');
  assert.equal(found['engine']?.status, 'ok');
  await server.close();
});

test('skips a port of another node whose address is unknown', async () => {
  const { ingestUrl, streamUrl, ...own } = service.quickstart;
  const dataDir = mkdtempSync(join(folder, 'node-'));
  const tryAs = async (elsewhere: readonly string[], more: readonly string[] = []) => {
    const wrong = { ingestUrl: 'https://localhost:1', streamUrl: 'https://localhost:1' };
    const here = { ingestUrl, streamUrl };
    const urls = elsewhere.includes('stream') ? { ...here, ...wrong } : here;
    const quickstart = JSON.stringify({ ...own, ...urls, elsewhere });
    writeFileSync(join(dataDir, 'quickstart.json'), quickstart, { mode: 0o600 });
    return doctor(['--data', dataDir, ...more]);
  };
  const writer = await tryAs(['ingest', 'stream']);
  assert.equal(writer.code, 0, writer.out);
  assert.match(writer.out, /^skip {2}ingest address .*ingest\.publicUrl/m);
  assert.match(writer.out, /^skip {2}stream address .*stream\.publicUrl/m);
  assert.equal(writer.out.match(/^skip/gm)?.length, 2, writer.out);
  assert.ok(writer.out.endsWith('no problems found\n'), writer.out);

  const reader = await tryAs(['ingest']);
  assert.match(reader.out, /^skip {2}ingest address/m);
  assert.match(reader.out, /^ok {4}reading/m);

  const told = await tryAs(['ingest', 'stream'], ['--url', streamUrl]);
  assert.match(told.out, /^ok {4}reading/m);
});

test('checks address and certificate of a gateway without receivers', async () => {
  const { ingestUrl, caFile } = service.quickstart;
  const dataDir = mkdtempSync(join(folder, 'gateway-'));
  const quickstart = JSON.stringify({ ingestUrl, caFile, elsewhere: ['stream'] });
  writeFileSync(join(dataDir, 'quickstart.json'), quickstart, { mode: 0o600 });
  const { out } = await doctor(['--data', dataDir]);
  assert.match(out, /^ok {4}ingest certificate/m);
  assert.match(out, /^skip {2}sending .*--receiver-url/m);
});

test('without any input it lists the options', async () => {
  const { code, error } = await doctor(['--data', join(folder, 'none')]);
  assert.equal(code, 1);
  assert.match(error, /cannot find anything to check: give --receiver-url/);
});

type Findings = Readonly<Record<string, Finding>>;

function assertFault(
  finding: Finding | undefined,
  status: Finding['status'],
  says: RegExp,
  advice: RegExp,
): void {
  assert.ok(finding, 'the finding is missing');
  assert.equal(finding.status, status, finding.says);
  assert.match(finding.says, says);
  assert.match(finding.advice ?? '', advice);
}

/** A stream port that serves only these paths. */
async function examineFake(
  paths: Readonly<Record<string, Scripted>>,
  options: { host?: string; tls?: { cert: string; key: string }; ca?: string } = {},
): Promise<Findings> {
  const { ca, ...listen } = options;
  const alive = { '/healthz': { status: 200, body: { status: 'ok' } } };
  const known: Readonly<Record<string, Scripted | undefined>> = { ...alive, ...paths };
  const server = await startScriptedServer(({ path }) => known[path] ?? { status: 404 }, listen);
  const nowhere = ['--data', join(folder, 'none')];
  const authority = ca === undefined ? [] : ['--ca-file', ca];
  const { out } = await doctor([
    '--json',
    '--url',
    server.url,
    ...nowhere,
    ...authority,
    '--token',
    't',
  ]);
  await server.close();
  return toFindings(out);
}

async function examine(argv: readonly string[]): Promise<Findings> {
  const { code, out } = await doctor(['--json', '--data', service.dataDir, ...argv]);
  const found = toFindings(out);
  const hasFailed = Object.values(found).some(({ status }) => status === 'fail');
  assert.equal(code, hasFailed ? 1 : 0);
  return found;
}

function toFindings(out: string): Findings {
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]));
}

async function doctor(argv: readonly string[]) {
  const terminal = captureTerminal();
  const code = await run(['doctor', ...argv], terminal);
  return { code, out: terminal.out(), error: terminal.error() };
}
