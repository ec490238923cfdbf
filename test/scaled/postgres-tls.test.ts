/** TLS to PostgreSQL: verification of name and authority. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openPostgresDirectory } from '../../src/directory/postgres.ts';
import { openDirectoryChanges } from '../../src/directory/postgres-changes.ts';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import { until } from '../harness/until.ts';
import { postgresMissing, PostgresServer } from './postgres-server.ts';

describe('a PostgreSQL with TLS', { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-tls-'));
    const pair = await ensureLocalCertificate(join(folder, 'mine'), new Date());
    await ensureLocalCertificate(join(folder, 'other'), new Date());
    server = await PostgresServer.start();
    await server.speakTls({ cert: String(pair.cert), key: String(pair.key) });
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const urlOf = async (host: string, authority: 'mine' | 'other') => {
    const url = new URL(await server.newUrl());
    url.hostname = host;
    url.searchParams.set('sslmode', 'verify-full');
    url.searchParams.set('sslrootcert', join(folder, authority, 'ca.pem'));
    return url.href.replaceAll('+', '%20');
  };
  const startRetry = {
    seconds: 3_600,
    telemetry: { directoryAwaited: assert.fail, directoryReached: assert.fail },
  };
  const open = (url: string) =>
    openPostgresDirectory({ url, password: '', poolSize: 5, startRetry });

  test('works by name and by address, and every connection is encrypted', async () => {
    for (const host of ['localhost', '127.0.0.1']) {
      const url = await urlOf(host, 'mine');
      const directory = await open(url);
      let heard = 0;
      const invalidate = () => void (heard += 1);
      const telemetry = { changeFeedLost: assert.fail, changeFeedRestored: assert.fail };
      const known = { source: directory, grants: { invalidate } };
      const changes = openDirectoryChanges({ url, password: '' }, known, telemetry);
      await until(() => heard > 0, { what: 'the listener for changes' });
      await directory.createAccount({ name: 'acme', eventsPerSecond: null });
      await until(() => heard > 1, { what: 'the change to be received' });
      const connections = await server.run(
        "select ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'weir' " +
          "and application_name = 'weir'",
      );
      assert.ok(connections.length >= 2);
      for (const { ssl } of connections) assert.equal(ssl, true);
      await changes.close();
      await directory.close();
    }
  });

  test('refuses a name that the certificate does not have', async () => {
    await assert.rejects(open(await urlOf('127.0.0.2', 'mine')), (error: Error) => {
      assert.match(error.message, /^cannot open the directory at PostgreSQL: /);
      assert.match(error.message, /127\.0\.0\.2 is not in the cert's list/);
      return true;
    });
  });

  test('refuses a certificate of another authority', async () => {
    const refused = open(await urlOf('127.0.0.1', 'other'));
    await assert.rejects(refused, /cannot open the directory at PostgreSQL: .*certificate/);
  });
});
