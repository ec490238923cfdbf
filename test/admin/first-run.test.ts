/** The first run with a real directory and folder, interrupted at each step. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { prepareFirstRun } from '../../src/admin/first-run.ts';
import {
  type Addresses,
  type FirstRun,
  type Quickstart,
  readFirstRun,
  writeEngineAddresses,
  writeQuickstart,
} from '../../src/admin/quickstart.ts';
import type { Directory, GrantSource } from '../../src/directory/port.ts';
import { openSqliteDirectory } from '../../src/directory/sqlite.ts';
import { AppError } from '../../src/model/errors.ts';
import { digestSecret } from '../../src/codec/token-secret.ts';

const addresses: Addresses = {
  ingestUrl: 'https://localhost:8443',
  streamUrl: 'https://localhost:8444',
  opsUrl: 'http://127.0.0.1:9464',
  caFile: '/data/tls/ca.pem',
};

let folder: string;
let directory: Directory & GrantSource;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-first-run-'));
  directory = await openSqliteDirectory({ file: join(folder, 'directory.db') });
});
afterEach(async () => {
  await directory.close();
  rmSync(folder, { recursive: true });
});

test('creates an account, a stream, three receivers and their tokens', async () => {
  const firstRun = await prepareFirstRun(directory, folder);
  assert.ok(firstRun);
  const { accountId, streamId, receivers } = firstRun;
  assert.equal((await directory.listStreams(accountId))[0]?.retentionDays, 30);
  for (const [kind, { receiverId, token }] of Object.entries(receivers)) {
    const receiver = await directory.getReceiver(receiverId);
    assert.deepEqual([receiver?.kind, receiver?.streamId], [kind, streamId]);
    assert.equal(receiver?.active, true);
    const grant = await directory.findToken(digestSecret(token));
    assert.deepEqual([grant?.type, grant?.receiverId], ['ingest', receiverId]);
    assert.deepEqual([...(grant?.scopes ?? [])], ['ingest:write']);
  }
  const access = await directory.findToken(digestSecret(firstRun.accessToken));
  assert.deepEqual(access?.accountIds, [accountId]);
  assert.deepEqual([...(access?.scopes ?? [])].sort(), [
    'admin',
    'analytics:read',
    'logs:read',
    'metrics:read',
    'operator',
  ]);
});

test('quickstart.json contains all addresses and tokens, with mode 0600', async () => {
  const firstRun = await prepareFirstRun(directory, folder);
  assert.ok(firstRun);
  writeQuickstart(folder, firstRun, addresses);
  const { receivers } = firstRun;
  const base = `${addresses.ingestUrl}/v1/receivers`;
  assert.deepEqual(readQuickstart(), {
    ...addresses,
    accountId: firstRun.accountId,
    streamId: firstRun.streamId,
    accessToken: firstRun.accessToken,
    receivers: {
      http_json: {
        ...receivers.http_json,
        url: `${base}/${receivers.http_json.receiverId}/logs`,
        linesUrl: `${base}/${receivers.http_json.receiverId}/lines`,
      },
      otlp: {
        ...receivers.otlp,
        url: `${base}/${receivers.otlp.receiverId}/otlp/v1/logs`,
        metricsUrl: `${base}/${receivers.otlp.receiverId}/otlp/v1/metrics`,
        grpc: 'localhost:8443',
      },
      prometheus: {
        ...receivers.prometheus,
        pushUrl: `${base}/${receivers.prometheus.receiverId}/prometheus/metrics`,
        writeUrl: `${base}/${receivers.prometheus.receiverId}/prometheus/api/v1/write`,
        writeV2Url: `${base}/${receivers.prometheus.receiverId}/prometheus/api/v2/write`,
      },
    },
  });
  assert.equal(statSync(join(folder, 'quickstart.json')).mode & 0o777, 0o600);
  assert.deepEqual(secretFiles(), ['quickstart.json']);
});

test('a later start keeps the tokens and writes the new addresses', async () => {
  const first = await start(addresses);
  const second = await start({ ...addresses, ingestUrl: 'https://logs.example.com' });
  assert.deepEqual(second, first);
  const written = readQuickstart();
  assert.ok(written.receivers);
  assert.equal(written.accessToken, first?.accessToken);
  assert.equal(written.receivers.otlp.grpc, 'logs.example.com:443');
  assert.equal((await directory.listAccounts()).length, 1);
});

test('completes a first run after a crash before the seed, with the same tokens', async () => {
  const { seed } = directory;
  directory.seed = () => Promise.reject(new AppError('unavailable', 'crash'));
  await assert.rejects(prepareFirstRun(directory, folder), /crash/);
  const pending = JSON.parse(readFileSync(join(folder, 'first-run.json'), 'utf8')) as FirstRun;
  directory.seed = seed;
  const firstRun = await prepareFirstRun(directory, folder);
  assert.deepEqual(firstRun, pending);
  assert.ok(await directory.findToken(digestSecret(pending.accessToken)));
});

test('loses no token to a crash before quickstart.json is written', async () => {
  const first = await prepareFirstRun(directory, folder);
  assert.deepEqual(secretFiles(), ['first-run.json']);
  assert.equal(statSync(join(folder, 'first-run.json')).mode & 0o777, 0o600);
  assert.deepEqual(await start(addresses), first);
  assert.deepEqual(secretFiles(), ['quickstart.json']);
});

test('writes only addresses when the file with the tokens is missing', async () => {
  await start(addresses);
  rmSync(join(folder, 'quickstart.json'));
  assert.equal(await start(addresses), undefined);
  assert.deepEqual(readQuickstart(), addresses);
  assert.equal(await start(addresses), undefined);
});

test('a node with the role engine keeps the tokens in quickstart.json', async () => {
  const firstRun = await start(addresses);
  writeEngineAddresses(folder, { storeUrl: 'http://127.0.0.1:8123', opsUrl: 'http://127.0.0.1:1' });
  assert.deepEqual(readFirstRun(folder), firstRun);
  assert.deepEqual(await start(addresses), firstRun);
});

test('does not refill a directory that an operator emptied', async () => {
  const { accountId } = (await start(addresses)) ?? assert.fail('the first run created nothing');
  for (const { receiverId } of await directory.listReceivers(accountId)) {
    await directory.deleteReceiver(receiverId);
  }
  for (const { streamId } of await directory.listStreams(accountId)) {
    await directory.deleteStream(streamId);
  }
  await directory.deleteAccount(accountId);
  await start(addresses);
  rmSync(join(folder, 'quickstart.json'));
  assert.equal(await start(addresses), undefined);
  assert.deepEqual(await directory.listAccounts(), []);
  assert.deepEqual(secretFiles(), ['quickstart.json']);
});

test('fails with the name of a damaged file', async () => {
  writeFileSync(join(folder, 'quickstart.json'), '{"accessToken":');
  await assert.rejects(prepareFirstRun(directory, folder), /cannot read .*quickstart\.json/);
});

async function start(at: Addresses): Promise<FirstRun | undefined> {
  const firstRun = await prepareFirstRun(directory, folder);
  writeQuickstart(folder, firstRun, at);
  return firstRun;
}

function readQuickstart(): Quickstart {
  return JSON.parse(readFileSync(join(folder, 'quickstart.json'), 'utf8')) as Quickstart;
}

function secretFiles(): string[] {
  return readdirSync(folder).filter((name) => !name.startsWith('directory.db'));
}
