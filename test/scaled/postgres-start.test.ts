/** A node started before its PostgreSQL waits for it, but not for permanent errors. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openPostgresDirectory } from '../../src/directory/postgres.ts';
import { until } from '../harness/until.ts';
import { startWeir } from '../harness/weir-process.ts';
import { postgresMissing, PostgresServer } from './postgres-server.ts';

/** Longer than a test would wait. */
const hour = 3_600;

describe('a start', { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.close());

  const open = (url: string, seconds: number, said: string[] = []) =>
    openPostgresDirectory({
      url,
      password: '',
      poolSize: 5,
      startRetry: {
        seconds,
        telemetry: {
          directoryAwaited: (reason) => said.push(reason),
          directoryReached: () => said.push('reached'),
        },
      },
    });

  test('waits for a server that is started later', async () => {
    const url = await server.newUrl();
    await server.stop();
    const said: string[] = [];
    const opening = open(url, hour, said);
    await until(() => said.length > 0, { what: 'a log line with the reason of the wait' });
    assert.match(said[0]!, /ECONNREFUSED/);
    await server.start();
    const directory = await opening;
    assert.equal(said.at(-1), 'reached');
    assert.deepEqual(await directory.listAccounts(), []);
    await directory.close();
  });

  test('logs nothing when there is nothing to wait for', async () => {
    const said: string[] = [];
    await (await open(await server.newUrl(), hour, said)).close();
    assert.deepEqual(said, []);
  });

  test('gives up after its timeout, with the last error', async () => {
    const said: string[] = [];
    await assert.rejects(
      open('postgres://weir@127.0.0.1:1/weir', 0.5, said),
      /^Error: cannot open the directory at PostgreSQL: connect ECONNREFUSED 127.0.0.1:1/,
    );
    assert.equal(said.length, 1);
  });

  test('does not wait for a missing database, user or certificate authority', async () => {
    const user = 'postgres://nobody@';
    const url = server.url();
    const faults: readonly [string, RegExp][] = [
      [url.replace('/postgres?', '/nowhere?'), /database "nowhere" does not exist/],
      [url.replace('postgres://weir@', user), /role "nobody" does not exist/],
      [`${url}&sslmode=verify-full&sslrootcert=/nowhere.pem`, /no such file/],
      [`${url}&sslmode=verify-full`, /does not support SSL/],
    ];
    for (const [wrong, reason] of faults) await assert.rejects(open(wrong, hour), reason);
  });

  test('of the service logs the timeout and exits with the error', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'weir-start-'));
    const running = startWeir(['serve', '--data', dataDir, '--directory-wait-seconds', '1'], {
      WEIR_DIRECTORY_URL: 'postgres://weir@127.0.0.1:1/weir',
    });
    assert.equal((await running.exited).code, 1);
    const lines = running.logs.map(({ msg, raw }) => msg || raw);
    assert.match(lines[0]!, /waiting for the directory at PostgreSQL/);
    assert.match(lines.at(-1)!, /weir: cannot open the directory at PostgreSQL: .*ECONNREFUSED/);
    rmSync(dataDir, { recursive: true });
  });
});
