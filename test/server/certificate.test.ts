/** The local authority, the operator's certificate, and renewal in running listeners. */
import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { openCertificate } from '../../src/server/certificate.ts';
import { createListener } from '../../src/server/listener.ts';
import { ensureLocalCertificate as ensure } from '../../src/server/local-authority.ts';
import type { HttpEvents } from '../../src/telemetry/request-events.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const root = temporaryFolder();
let folders = 0;
const newFolder = () => join(root, String(folders++));

function ensureLocalCertificate(folder: string, at: Date) {
  return ensure(folder, at, (file) => assert.fail(`${file} is damaged`));
}

const now = new Date('2026-11-20T00:00:00Z');
const days = (count: number) => new Date(now.getTime() + count * 24 * 60 * 60 * 1000);

function createEvents() {
  const refused: unknown[] = [];
  const events: HttpEvents = {
    answered() {},
    failed() {},
    connectionCut() {},
    addressRefused() {},
    authenticationFailed() {},
    certificateLoaded() {},
    certificateRefused: (reason) => void refused.push(reason),
    certificateDamaged() {},
  };
  return { events, refused };
}

test('creates an authority and a server certificate on the first run', async () => {
  const folder = newFolder();
  const { cert } = await ensureLocalCertificate(folder, now);
  const authority = new X509Certificate(await readFile(join(folder, 'ca.pem')));
  const leaf = new X509Certificate(cert);
  assert.ok(authority.ca && !leaf.ca);
  assert.ok(leaf.verify(authority.publicKey) && leaf.checkIssued(authority));
  assert.ok(leaf.checkHost('localhost') && leaf.checkIP('127.0.0.1') && leaf.checkIP('::1'));
  for (const name of ['ca-key.pem', 'server-key.pem']) {
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600);
  }
});

test('renews the server certificate 30 days before it expires, not the authority', async () => {
  const folder = newFolder();
  const first = await ensureLocalCertificate(folder, now);
  const authority = await readFile(join(folder, 'ca.pem'), 'utf8');
  assert.deepEqual(await ensureLocalCertificate(folder, days(360)), first);
  const renewed = await ensureLocalCertificate(folder, days(370));
  assert.notEqual(renewed.cert, first.cert);
  assert.equal(await readFile(join(folder, 'ca.pem'), 'utf8'), authority);
});

test('replaces a certificate and key that do not match', async () => {
  const folder = newFolder();
  const first = await ensureLocalCertificate(folder, now);
  const other = newFolder();
  await ensureLocalCertificate(other, now);
  await copyFile(join(other, 'server-key.pem'), join(folder, 'server-key.pem'));
  const second = await ensureLocalCertificate(folder, now);
  assert.notEqual(second.cert, first.cert);
  await unlink(join(folder, 'ca-key.pem'));
  const third = await ensure(folder, now, () => {});
  const authority = new X509Certificate(await readFile(join(folder, 'ca.pem')));
  assert.ok(new X509Certificate(third.cert).verify(authority.publicKey));
});

for (const [state, content] of Object.entries({ empty: '', cut: '-----BEGIN CERT' })) {
  for (const name of ['ca.pem', 'ca-key.pem', 'server.pem', 'server-key.pem']) {
    test(`replaces and reports a ${name} that is ${state}`, async () => {
      const folder = newFolder();
      await ensureLocalCertificate(folder, now);
      const authority = await readFile(join(folder, 'ca.pem'), 'utf8');
      await writeFile(join(folder, name), content);
      const damaged: string[] = [];
      const { cert, key } = await ensure(folder, now, (file) => void damaged.push(file));
      assert.deepEqual(damaged, [join(folder, name)]);
      assert.ok(new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)));
      const isKept = (await readFile(join(folder, 'ca.pem'), 'utf8')) === authority;
      assert.equal(isKept, name.startsWith('server'), 'an intact authority must be kept');
    });
  }
}

test('replaces and reports an authority that is missing or has a flipped bit', async () => {
  const damages = {
    removed: (file: string) => rm(file),
    async flipped(file: string) {
      const pem = await readFile(file, 'utf8');
      const lines = pem.split('\n');
      const der = Buffer.from(lines.slice(1, -2).join(''), 'base64');
      // In the text of the subject, so that it still parses.
      const at = der.indexOf('Weir local');
      der[at] = (der[at] ?? 0) ^ 1;
      await writeFile(file, [lines[0], der.toString('base64'), ...lines.slice(-2)].join('\n'));
    },
  };
  for (const damage of Object.values(damages)) {
    const folder = newFolder();
    await ensureLocalCertificate(folder, now);
    const file = join(folder, 'ca.pem');
    await damage(file);
    const damaged: string[] = [];
    const { cert } = await ensure(folder, now, (name) => void damaged.push(name));
    assert.deepEqual(damaged, [file]);
    const authority = new X509Certificate(await readFile(file));
    assert.ok(new X509Certificate(cert).checkIssued(authority));
  }
});

test('rejects an empty or truncated file of the operator by name', async () => {
  const { events } = createEvents();
  const { cert, key } = await ensureLocalCertificate(newFolder(), now);
  const folder = newFolder();
  await mkdir(folder);
  const [certFile, keyFile] = [join(folder, 'own.pem'), join(folder, 'own-key.pem')];
  const options = { certFile, keyFile, directory: newFolder(), checkEveryMs: 60_000 };
  for (const content of [
    { cert: '', key },
    { cert, key: '' },
    { cert: cert.slice(0, 100), key },
    { cert, key: key.slice(0, 60) },
  ]) {
    await writeFile(certFile, content.cert);
    await writeFile(keyFile, content.key);
    await assert.rejects(openCertificate(options, events), (error: Error) => {
      assert.match(error.message, /cannot use the certificate .*own\.pem with the key .*own-key/);
      return true;
    });
  }
});

test('serves renewed files, and the previous ones while those are invalid', async () => {
  const folder = newFolder();
  const one = await ensureLocalCertificate(newFolder(), new Date());
  const two = await ensureLocalCertificate(newFolder(), new Date());
  const certFile = join(root, 'own.pem');
  const keyFile = join(root, 'own-key.pem');
  await writeFile(certFile, one.cert);
  await writeFile(keyFile, one.key);
  const { events, refused } = createEvents();
  const certificate = await openCertificate(
    { certFile, keyFile, directory: folder, checkEveryMs: 60_000 },
    events,
  );
  assert.equal(certificate.caFile, undefined);
  const limits = {
    headersTimeoutMs: 1000,
    idleTimeoutMs: 1000,
    keepAliveTimeoutMs: 1000,
    maxStreamsPerConnection: 10,
  };
  const server = createListener({ surface: 'ingest', limits, certificate, events }, () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  assert.equal(await shownBy(port), serialOf(one.cert));
  await writeFile(certFile, two.cert);
  await certificate.refresh();
  assert.equal(refused.length, 1);
  assert.equal(await shownBy(port), serialOf(one.cert));
  await writeFile(keyFile, two.key);
  await certificate.refresh();
  assert.equal(await shownBy(port), serialOf(two.cert));
  certificate.close();
  server.close();
});

test('fails to start with half a pair or without a certificate in the files', async () => {
  const { events } = createEvents();
  const options = { keyFile: undefined, directory: newFolder(), checkEveryMs: 60_000 };
  const half = openCertificate({ ...options, certFile: '/nowhere' }, events);
  await assert.rejects(half, /set both tls.certFile and tls.keyFile/);
  const none = openCertificate({ ...options, certFile: '/no/cert', keyFile: '/no/key' }, events);
  await assert.rejects(none, /cannot use the certificate \/no\/cert/);
});

test('rejects TLS 1.1', async () => {
  const { events } = createEvents();
  const options = { certFile: undefined, keyFile: undefined, checkEveryMs: 60_000 };
  const certificate = await openCertificate({ ...options, directory: newFolder() }, events);
  const limits = {
    headersTimeoutMs: 1000,
    idleTimeoutMs: 1000,
    keepAliveTimeoutMs: 1000,
    maxStreamsPerConnection: 10,
  };
  const server = createListener({ surface: 'ingest', limits, certificate, events }, () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' } as const;
  await assert.rejects(shownBy(port, old), /alert|protocol/i);
  certificate.close();
  server.close();
});

function shownBy(port: number, options: object = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
    resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
    socket.destroy();
  });
  socket.on('error', reject);
  return promise;
}

function serialOf(cert: string): string {
  return new X509Certificate(cert).serialNumber;
}
