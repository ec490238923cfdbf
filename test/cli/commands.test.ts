/** Commands against the control API over a real directory. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { run } from '../../src/cli/program.ts';
import { openSqliteDirectory, sqliteFileName } from '../../src/directory/sqlite.ts';
import { accessScopes, type Stream } from '../../src/model/account.ts';
import { digestSecret, mintSecret } from '../../src/codec/token-secret.ts';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import {
  type ControlPlane,
  createTenant,
  openControlPlane,
  type Tenant,
} from '../admin/control-plane.ts';
import { captureTerminal } from './captured-terminal.ts';
import { type ControlServer, startControlServer } from './control-server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const secret = mintSecret('access');
const folder = temporaryFolder();
let plane: ControlPlane;
let server: ControlServer;
let tenant: Tenant;
before(async () => {
  plane = await openControlPlane();
  tenant = await createTenant(plane.directory, 'acme');
  await plane.directory.createToken({
    type: 'access',
    name: 'operator',
    accountIds: [tenant.account.accountId],
    allAccounts: false,
    receiverId: null,
    scopes: accessScopes,
    expiresAt: null,
    digest: digestSecret(secret),
  });
  server = await startControlServer(plane);
});
after(async () => {
  await server.close();
  await plane.close();
});

test('creates, changes and deletes a stream', async () => {
  const stream = await weirJson('stream', 'create', 'checkout', '--retention-days', '7');
  assert.equal(stream['retentionDays'], 7);
  const id = String(stream['streamId']);
  assert.deepEqual(await weirJson('stream', 'show', id), stream);
  const updated = await weirJson('stream', 'update', id, '--name', 'cart');
  assert.deepEqual(updated, { ...stream, name: 'cart' });
  const levels = (text: string) => weirJson('stream', 'update', id, '--downsampling', text);
  assert.equal((await levels('1d:5m,3d:1h'))['downsampling'], '1d:5m,3d:1h');
  assert.deepEqual(await levels('none'), updated);
  const { error } = await weir('stream', 'update', id, '--downsampling', '30d');
  assert.match(error, /must be levels such as 30d:5m/);
  assert.ok((await weirJson('stream', 'delete-data', id))['dataDeletedUntil']);
  assert.equal((await weir('stream', 'delete', id)).out, `deleted stream ${id}\n`);
  assert.match(
    (await weir('stream', 'show', id)).error,
    /^weir: cannot find stream .*: it is neither a name nor an id\n$/,
  );
});

test('takes names in place of ids', async () => {
  const { streamId } = await weirJson('stream', 'create', 'named');
  assert.equal(
    (await weirJson('stream', 'update', 'named', '--retention-days', '9'))['streamId'],
    streamId,
  );
  const receiver = ['receiver', 'create', 'shop', '--kind', 'http_json', '--stream', 'named'];
  const { receiverId, ...made } = await weirJson(...receiver);
  assert.equal(made['streamId'], streamId);
  const token = await weirJson('token', 'create', 'sender', '--receiver', 'shop');
  assert.equal(token['receiverId'], receiverId);
  const second = await weirJson(...receiver);
  const { code, error } = await weir('receiver', 'deactivate', 'shop');
  assert.equal(code, 2);
  assert.match(error, /^weir: cannot choose a receiver: several are called shop: /);
  const ids = [receiverId, second['receiverId']].map(String);
  for (const id of ids) assert.ok(error.includes(id));
  const missing = await weir('receiver', 'show', 'nothing');
  assert.match(
    missing.error,
    /^weir: cannot find receiver nothing: it is neither a name nor an id/,
  );
  for (const id of ids) await weir('receiver', 'delete', id);
  assert.equal(
    (await weir('stream', 'delete', 'named')).out,
    `deleted stream ${String(streamId)}\n`,
  );
});

test('applies, shows and deletes rules', async () => {
  const stream = await weirJson('stream', 'create', 'ruled');
  const flag = ['--stream', String(stream['streamId'])];
  const file = join(folder, 'rules.yaml');
  const groupOf = (name: string) => `- name: ${name}\n  rules: [{ record: a:b, expr: a }]\n`;
  writeFileSync(file, `groups:\n${groupOf('one')}${groupOf('two')}`);
  assert.equal((await weir('rules', 'apply', file, ...flag)).out, 'applied 2 rules in 2 groups\n');
  assert.match((await weir('rules', 'show', ...flag)).out, /name: one[^]*name: two/);
  const { out } = await weir('rules', 'show', 'two', ...flag);
  assert.match(out, /^groups:\n {2}- name: two\n/);
  assert.equal((await weir('rules', 'delete', 'two', ...flag)).code, 0);
  assert.match((await weir('rules', 'show', 'two', ...flag)).error, /\(404\)/);
  writeFileSync(file, `groups:\n${groupOf('one')}`);
  assert.match((await weir('rules', 'check', file)).out, /is valid: 1 rule in 1 group\n$/);
});

test('changes rules only if they still are at a version', async () => {
  const stream = await weirJson('stream', 'create', 'versioned');
  const flag = ['--stream', String(stream['streamId'])];
  const file = join(folder, 'versioned.yaml');
  const write = (limit: number) =>
    writeFileSync(file, `groups: [{ name: one, limit: ${limit}, rules: [] }]`);
  const versionOf = async (...group: string[]) =>
    String((await weirJson('rules', 'show', ...group, ...flag))['version']);
  const apply = (version: string) => weir('rules', 'apply', file, ...flag, '--if-version', version);
  const empty = await versionOf();
  write(1);
  assert.equal((await apply(empty)).code, 0);
  write(2);
  const { code, error } = await apply(empty);
  assert.deepEqual([code, /not at version .*; read them again \(412\)/.test(error)], [1, true]);
  const first = await versionOf('one');
  assert.equal((await apply(await versionOf())).code, 0);
  const remove = ['rules', 'delete', 'one', ...flag, '--if-version'];
  assert.match((await weir(...remove, first)).error, /\(412\)/);
  assert.equal((await weir(...remove, await versionOf('one'))).code, 0);
});

test('limits, deactivates, activates and deletes a receiver', async () => {
  const { streamId } = tenant.stream;
  const settings = ['--kind', 'otlp', '--stream', streamId, '--events-per-second', '100'];
  const ranges = ['--allow', '10.0.0.0/8', '--allow', '::1/128'];
  const receiver = await weirJson('receiver', 'create', 'edge', ...settings, ...ranges);
  assert.deepEqual(receiver['allowedCidrs'], ['10.0.0.0/8', '::1/128']);
  const id = String(receiver['receiverId']);
  assert.equal((await weirJson('receiver', 'deactivate', id))['active'], false);
  assert.equal((await weirJson('receiver', 'activate', id))['active'], true);
  const lifted = ['--events-per-second', 'unlimited', '--allow-any', '--burst-events', '5'];
  const updated = await weirJson('receiver', 'update', id, ...lifted);
  assert.deepEqual(updated['allowedCidrs'], []);
  const limits = { eventsPerSecond: null, burstEvents: 5, maxBodyBytes: null };
  assert.deepEqual(updated['limits'], limits);
  const list = await weirJson('receiver', 'list');
  assert.equal((list['receivers'] as object[]).length, 2);
  await weirJson('receiver', 'delete', id);
  assert.equal((await weir('receiver', 'show', id)).code, 1);
});

test('creates, rotates, prolongs and revokes tokens', async () => {
  const { receiverId } = tenant.receiver;
  const ingest = await weirJson('token', 'create', 'sender', '--receiver', receiverId);
  assert.equal(ingest['receiverId'], receiverId);
  assert.match(String(ingest['token']), /^wri_/);
  const scopes = ['--scope', 'logs:read', '--scope', 'analytics:read'];
  const access = await weirJson('token', 'create', 'reader', ...scopes);
  assert.deepEqual(access['scopes'], ['logs:read', 'analytics:read']);
  const id = String(access['tokenId']);
  assert.notEqual((await weirJson('token', 'rotate', id))['token'], access['token']);
  const prolonged = await weirJson('token', 'update', id, '--expires-at', '2030-01-01T00:00:00Z');
  assert.equal(prolonged['expiresAt'], '2030-01-01T00:00:00.000Z');
  assert.equal((await weirJson('token', 'update', id, '--expires-at', 'never'))['expiresAt'], null);
  assert.ok((await weirJson('token', 'revoke', id))['revokedAt']);
  assert.equal((await weir('token', 'delete', id)).code, 0);
  const all = ['--scope', 'operator', '--all-accounts'];
  assert.deepEqual((await weirJson('token', 'create', 'root', ...all))['accountIds'], []);
});

test('accounts, for an operator', async () => {
  const created = await weirJson('account', 'create', 'tenant', '--events-per-second', '50');
  const id = String(created['accountId']);
  const changed = await weirJson('account', 'update', id, '--events-per-second', 'unlimited');
  assert.equal(changed['eventsPerSecond'], null);
  const account = ['--account', id];
  assert.deepEqual((await weirJson('stream', 'list', ...account))['streams'], []);
  await weirJson('account', 'delete', id);
  assert.equal((await weir('account', 'show', id)).code, 1);
});

test('prints a table without control characters', async () => {
  const { accountId } = tenant.account;
  const hostile = await plane.directory.createStream({
    accountId,
    name: 'evil\u001b[2J\u202e',
    retentionDays: 1,
  });
  const table = await weir('stream', 'list');
  assert.match(table.out, /^STREAM ID +NAME +RETENTION DAYS +DOWNSAMPLING +CREATED AT\n/);
  assert.ok(table.out.includes('evil\\u001b[2J\\u202e'));
  const json = await weir('stream', 'list', '--json');
  for (const character of ['\u001b', '\u202e']) {
    assert.ok(!(table.out + json.out).includes(character));
  }
  const { streams } = JSON.parse(json.out) as { streams: Stream[] };
  assert.ok(streams.some((stream) => stream.name === hostile.name));
  await plane.directory.deleteStream(hostile.streamId);
});

test('defaults to the only account of the token', async () => {
  const own = mintSecret('access');
  await plane.directory.createToken({
    type: 'access',
    name: 'admin',
    accountIds: [tenant.account.accountId],
    allAccounts: false,
    receiverId: null,
    scopes: ['admin'],
    expiresAt: null,
    digest: digestSecret(own),
  });
  const environment = { WEIR_URL: server.url };
  const one = await weirWith({ ...environment, WEIR_TOKEN: own }, 'stream', ['list']);
  assert.equal(one.code, 0, one.error);
  const { accountId } = await plane.directory.createAccount({ name: 'b', eventsPerSecond: null });
  const two = await weirWith({ ...environment, WEIR_TOKEN: secret }, 'stream', ['list']);
  assert.equal(two.code, 2);
  assert.match(two.error, /cannot choose between 2 accounts: give --account/);
  await plane.directory.deleteAccount(accountId);
});

test('prefers flags to the environment to quickstart.json', async () => {
  const data = join(folder, 'quickstart');
  mkdirSync(data);
  writeFileSync(
    join(data, 'quickstart.json'),
    JSON.stringify({
      streamUrl: server.url,
      accessToken: secret,
      accountId: tenant.account.accountId,
    }),
  );
  assert.equal((await weirWith({}, 'stream', ['list', '--data', data])).code, 0);
  assert.equal((await weirWith({ WEIR_DATA: data }, 'stream', ['list'])).code, 0);
  const wrong = { WEIR_DATA: data, WEIR_TOKEN: 'wra_wrong' };
  assert.match((await weirWith(wrong, 'whoami', [])).error, /cannot find the token \(401\)/);
  assert.equal((await weirWith(wrong, 'whoami', ['--token', secret])).code, 0);
});

test('trusts a local authority only when its certificate is named', async () => {
  const tlsFolder = join(folder, 'tls');
  const tls = await ensureLocalCertificate(tlsFolder, new Date());
  const secure = await startControlServer(plane, tls);
  const environment = { WEIR_URL: secure.url, WEIR_TOKEN: secret };
  const distrusted = await weirWith(environment, 'whoami', []);
  assert.equal(distrusted.code, 1);
  assert.match(distrusted.error, /not trusted; give --ca-file/);
  const caFile = join(tlsFolder, 'ca.pem');
  assert.equal((await weirWith(environment, 'whoami', ['--ca-file', caFile])).code, 0);
  const noAuthority = await weirWith(environment, 'whoami', ['--ca-file', import.meta.filename]);
  assert.match(noAuthority.error, /cannot use the authority .+: it has no PEM certificate/);
  await secure.close();
});

test('recovers an operator token from a data directory in use', async () => {
  const file = join(folder, sqliteFileName);
  const directory = await openSqliteDirectory({ file });
  const { accountId } = await directory.createAccount({ name: 'acme', eventsPerSecond: null });
  const recovered = await weirWith({}, 'token', ['recover', '--data', folder, '--json']);
  const { token } = JSON.parse(recovered.out) as { token: string };
  const grant = await directory.findToken(digestSecret(token));
  assert.deepEqual(grant?.accountIds, [accountId]);
  assert.deepEqual([...grant.scopes], [...accessScopes]);
  await directory.close();
});

const failures: readonly [string, string[], number, RegExp][] = [
  ['no command', [], 2, /^Usage: weir/],
  ['an unknown command', ['acount'], 2, /unknown command/],
  ['an unknown option', ['stream', 'list', '--colour'], 2, /unknown option/],
  ['ship, which never gives up', ['ship', 'a', '--give-up-after', '1s'], 2, /unknown option/],
  ['a missing argument', ['stream', 'show'], 2, /missing required argument/],
  ['no number', ['stream', 'create', 'x', '--retention-days', 'ten'], 2, /whole number/],
  ['an unknown kind', ['receiver', 'create', 'x', '--kind', 'syslog'], 2, /Allowed choices/],
  ['a token for nothing', ['token', 'create', 'x'], 2, /--receiver, or --scope/],
  ['no address', ['--url', 'localhost:8444', 'whoami'], 2, /give one with https/],
  [
    'nobody there',
    ['--url', 'http://127.0.0.1:1', 'whoami'],
    1,
    /cannot reach .*check that the service runs/,
  ],
  ['a refusal', ['stream', 'create', ''], 1, /cannot accept the body: name.*\(400\)/],
  ['no data directory', ['token', 'recover', '--data', '/nowhere'], 1, /cannot find .nowhere/],
];
for (const [what, argv, code, message] of failures) {
  test(`${what} exits with ${code} and a reason`, async () => {
    const result = await weir(...argv);
    assert.equal(result.code, code);
    assert.match(result.error, message);
    assert.equal(result.out, '');
  });
}

test('help and version exit with 0', async () => {
  const help = await weir('token', 'create', '--help');
  assert.equal(help.code, 0);
  assert.match(help.out, /Exit codes: 0 done, 1 failed, 2 wrong usage/);
  assert.match((await weir('--version')).out, /^\d+\.\d+\.\d+/);
});

interface Result {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

function weir(...argv: string[]): Promise<Result> {
  const environment = {
    WEIR_URL: server.url,
    WEIR_TOKEN: secret,
    WEIR_ACCOUNT: tenant.account.accountId,
  };
  return weirWith(environment, argv[0] ?? '', argv.slice(1));
}

async function weirJson(...argv: string[]): Promise<Record<string, unknown>> {
  const { code, out, error } = await weir(...argv, '--json');
  assert.equal(code, 0, error);
  return (out === '' ? {} : JSON.parse(out)) as Record<string, unknown>;
}

/** Without this process's environment and working directory. */
async function weirWith(
  environment: Record<string, string>,
  command: string,
  argv: string[],
): Promise<Result> {
  const terminal = captureTerminal({
    environment: { WEIR_DATA: join(folder, 'none'), ...environment },
  });
  const code = await run(command === '' ? argv : [command, ...argv], terminal);
  return { code, out: terminal.out(), error: terminal.error() };
}
