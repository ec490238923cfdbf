/** Copying the embedded directory into PostgreSQL: complete, once, and usable by a service. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { copyDirectory } from '../../src/maintenance/recover.ts';
import type { Directory, GrantSource } from '../../src/directory/port.ts';
import { openPostgresDirectory } from '../../src/directory/postgres.ts';
import { openSqliteDirectory, sqliteFileName } from '../../src/directory/sqlite.ts';
import { accessScopes } from '../../src/model/account.ts';
import { lockDirectory } from '../../src/files/directory-lock.ts';
import { createParts, newDigest, newToken } from '../directory/fixtures.ts';
import { Service } from '../harness/service.ts';
import { startWeir } from '../harness/weir-process.ts';
import { openFaultProxy } from './fault-proxy.ts';
import { postgresMissing, PostgresServer } from './postgres-server.ts';

const password = '';
const minutes = 1_234;
const span = { fromMinute: 0, untilMinute: minutes };

describe('a copy of the embedded directory', { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  let url: string;
  let dataDir: string;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.close());
  beforeEach(async () => {
    url = await server.newUrl();
    dataDir = mkdtempSync(join(tmpdir(), 'weir-copy-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const withEmbedded = async <T>(work: (directory: Directory & GrantSource) => Promise<T>) => {
    const directory = await openSqliteDirectory({ file: join(dataDir, sqliteFileName) });
    try {
      return await work(directory);
    } finally {
      await directory.close();
    }
  };
  const withShared = async <T>(work: (directory: Directory & GrantSource) => Promise<T>) => {
    const directory = await openPostgresDirectory({ url, password, poolSize: 5 });
    try {
      return await work(directory);
    } finally {
      await directory.close();
    }
  };

  test('is complete, including the last minute of statistics, and reports counts', async () => {
    const digests = await withEmbedded(fill);
    const original = await withEmbedded((directory) => readAll(directory, digests));
    const counts = await copyDirectory({ dataDir }, { url, password });
    assert.deepEqual(counts, {
      accounts: 2,
      streams: 2,
      receivers: 2,
      tokens: 4,
      views: 1,
      statistics: minutes + 2,
    });
    assert.deepEqual(await withShared((directory) => readAll(directory, digests)), original);
    // The original is unchanged.
    assert.deepEqual(await withEmbedded((directory) => readAll(directory, digests)), original);
  });

  test('refuses a target that already has a directory', async () => {
    const digests = await withEmbedded(fill);
    await copyDirectory({ dataDir }, { url, password });
    const copied = await withShared((directory) => readAll(directory, digests));
    const again = copyDirectory({ dataDir }, { url, password });
    await assert.rejects(again, /cannot copy into a directory that holds accounts already/);
    assert.deepEqual(await withShared((directory) => readAll(directory, digests)), copied);
  });

  test('refuses a directory in use, and a folder without one', async () => {
    const missing = copyDirectory({ dataDir }, { url, password });
    await assert.rejects(missing, /cannot find .*directory\.db: give the data directory/);
    assert.deepEqual(readdirSync(dataDir), []);
    await withEmbedded(fill);
    const lock = lockDirectory(dataDir);
    const held = copyDirectory({ dataDir }, { url, password });
    await assert.rejects(held, /another weir process \(pid \d+\) holds it; stop it/);
    lock.release();
    assert.equal((await copyDirectory({ dataDir }, { url, password })).accounts, 2);
  });

  test('an interrupted copy leaves nothing and can be repeated', async () => {
    await withEmbedded(fill);
    await withShared(async () => undefined);
    const proxy = await openFaultProxy({ port: server.port, host: '127.0.0.1' });
    const proxied = url.replace(`:${server.port}/`, `:${proxy.port}/`);
    const cut = proxy.cutAfter(60_000, 'up');
    await assert.rejects(copyDirectory({ dataDir }, { url: proxied, password }), /cannot reach/);
    await cut;
    await proxy.close();
    assert.deepEqual(await withShared((directory) => directory.listAccounts()), []);
    assert.equal((await copyDirectory({ dataDir }, { url, password })).statistics, minutes + 2);
  });

  test("a service on the copy accepts the same tokens and keeps the first run's", async () => {
    const embedded = new Service(dataDir, {});
    await embedded.start();
    const token = await createToken(embedded);
    const { accessToken } = embedded.quickstart;
    await embedded.kill('SIGTERM');

    const argv = ['directory', 'copy', '--data', dataDir, '--to', url, '--json'];
    const command = startWeir(argv);
    assert.deepEqual(await command.exited, { code: 0, signal: null });
    const { accounts, tokens } = JSON.parse(command.stdout()) as Record<string, number>;
    assert.deepEqual({ accounts, tokens }, { accounts: 1, tokens: 5 });

    const shared = new Service(dataDir, { env: { WEIR_DIRECTORY_URL: url } });
    await shared.start();
    assert.equal(shared.quickstart.accessToken, accessToken);
    assert.equal((await shared.postLogs([{ message: 'with the first run’s' }])).status, 202);
    assert.equal((await send(shared, token)).status, 202);
    assert.equal((await shared.admin('GET', '/tokens')).status, 200);
    await shared.stop();
  });
});

async function createToken(service: Service): Promise<string> {
  const { receiverId } = service.quickstart.receivers.http_json;
  const made = await service.admin('POST', '/tokens', { type: 'ingest', name: 't', receiverId });
  assert.equal(made.status, 201, made.text);
  return made.json<{ token: string }>().token;
}

function send({ http, quickstart }: Service, token: string) {
  return http.send(quickstart.receivers.http_json.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '[{"message":"with another"}]',
  });
}

/** Rows of every kind. @returns digests of its tokens. */
async function fill(directory: Directory & GrantSource): Promise<readonly string[]> {
  const digests = [1, 2, 3, 4].map(() => newDigest());
  const [sender, reader, operator, revoked] = digests as [string, string, string, string];
  const { account, receiver } = await createParts(directory);
  const { accountId } = account;
  const { receiverId } = receiver;
  const other = await createParts(directory);
  await directory.updateReceiver(other.receiver.receiverId, {
    active: false,
    allowedCidrs: ['10.0.0.0/8'],
  });
  const both = [accountId, other.account.accountId];
  const expiresAt = '2030-01-01T00:00:00.000Z';
  await directory.createToken(newToken({ receiverId, accountIds: [accountId], digest: sender }));
  await directory.createToken(newToken({ accountIds: both, expiresAt, digest: reader }));
  await directory.createToken(newToken({ scopes: accessScopes, digest: operator }));
  const token = await directory.createToken(newToken({ accountIds: both, digest: revoked }));
  await directory.revokeToken(token.tokenId);
  await directory.noteTokensUsed(new Map([[token.tokenId, 1_800_000_000_000]]));
  await directory.createView({ accountId, name: 'errors, “mine”', query: 'severity=ERROR' }, 9);
  await directory.keepTicket(
    { digest: newDigest(), accountId, tokenDigest: reader, query: '' },
    { ttlMs: 60_000, maxTickets: 9 },
  );
  const at = '2026-01-01T00:00:00.000Z';
  const counts = { requests: 1, refused: 0, accepted: 2 ** 40, rejected: 0, bytes: 7 };
  const sample = {
    receiverId,
    at,
    kind: 'request',
    reason: 'malformed',
    status: 400,
    detail: 'cannot read this: \0 “café” \u{1f600}',
    tokenId: null,
    peerAddress: '::1',
    contentType: null,
    bodyBytes: 12,
  } as const;
  await directory.addStatistics({
    minutes: Array.from({ length: minutes }, (_, minute) => ({ receiverId, minute, ...counts })),
    reasons: [{ receiverId, minute: 1, kind: 'record', reason: 'no message', count: 3 }],
    samples: [sample],
    activities: [{ receiverId, lastSeenAt: at, lastAcceptedAt: null }],
  });
  return digests;
}

/** All content by the port. */
async function readAll(directory: Directory & GrantSource, digests: readonly string[]) {
  const accounts = await directory.listAccounts();
  const perAccount = accounts.map(async ({ accountId }) => ({
    streams: await directory.listStreams(accountId),
    receivers: await directory.listReceivers(accountId),
    tokens: await directory.listTokens(accountId),
    views: await directory.listViews(accountId),
  }));
  const owned = await Promise.all(perAccount);
  const receivers = owned.flatMap((each) => each.receivers);
  return {
    accounts,
    owned,
    unbound: await directory.listUnboundTokens(),
    grants: await Promise.all(digests.map((digest) => directory.findToken(digest))),
    statistics: await Promise.all(
      receivers.map(({ receiverId }) => directory.findStatistics(receiverId, span)),
    ),
  };
}
