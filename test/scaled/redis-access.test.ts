/** Access to Redis: passwords, users, TLS, cluster nodes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Bucket } from '../../src/admission/port.ts';
import { AppError } from '../../src/model/errors.ts';
import { ensureLocalCertificate } from '../../src/server/local-authority.ts';
import { until } from '../harness/until.ts';
import { freePort } from '../senders/program.ts';
import { missingRedis, RedisServer } from './redis-server.ts';
import { openStore, type ObservedQuota } from './redis-store.ts';

const skip = missingRedis();

function openBuckets(accountId: string): [Bucket, Bucket] {
  const rate = { accountId, eventsPerSecond: 1e-6, burstEvents: 5 };
  return [
    { policy: 'receiver', owner: `${accountId}-receiver`, ...rate },
    { policy: 'account', owner: accountId, ...rate },
  ];
}

/** A Redis user with the documented permissions and `more`. */
function permit(user: string, more: string): string[] {
  const rules = `on >s3cret ~weir:quota:* +eval +evalsha +time +get +set +del ${more}`;
  return ['--user', user, ...rules.trim().split(' ')];
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable';
}

async function canTake(store: ObservedQuota): Promise<boolean> {
  try {
    return await store.take(openBuckets('some'), 0);
  } catch {
    return false;
  } finally {
    await store.close();
  }
}

suite('a Redis with passwords', { skip }, () => {
  let server: RedisServer;
  before(async () => {
    const flags = [
      '--requirepass',
      'p%ss:word',
      ...permit('weir', ''),
      ...permit('three', '+select'),
      '--user',
      ...'idle on >not-this-one ~* +ping'.split(' '),
    ];
    server = await RedisServer.start(() => flags);
  });
  after(() => server?.stop());

  const withUser = (user: string) => server.url.replace('//', `//${user}@`);

  test('accepts the password of the URL or of the setting, with or without a user', async () => {
    const byAddress = await openStore(withUser(':p%25ss%3Aword'));
    assert.equal(await canTake(byAddress), true);
    assert.equal(await canTake(await openStore(server.url, { password: 'p%ss:word' })), true);
    const user = await openStore(server.url, { user: 'weir', password: 's3cret' });
    assert.equal(await canTake(user), true);
    const overridden = await openStore(withUser(':wrong'), { password: 'p%ss:word' });
    assert.equal(await canTake(overridden), true);
  });

  test('uses another database', async () => {
    const store = await openStore(`${withUser('three:s3cret')}/3`);
    assert.equal(await store.take(openBuckets('third'), 1), true);
    await store.close();
    const info = await server.command('AUTH p%ss:word\r\nINFO keyspace');
    assert.match(info, /db3:keys=2/);
  });

  for (const [what, url, says] of [
    ['a wrong password', ':not-this-one', /WRONGPASS/],
    ['an unknown user', 'nobody:not-this-one', /WRONGPASS/],
    ['no password', undefined, /NOAUTH/],
    ['a user who may not run scripts', 'idle:not-this-one', /NOPERM/],
    ['a database that is not there', ':p%25ss%3Aword/99', /DB index/],
  ] as const) {
    test(`${what}: fails to open with a reason that omits the password`, async () => {
      const [user, database] = url?.split('/') ?? [];
      const address = user === undefined ? server.url : withUser(user);
      const opening = openStore(database === undefined ? address : `${address}/${database}`);
      await assert.rejects(opening, (error: Error) => {
        assert.match(
          error.message,
          /^cannot use the quota store at 127\.0\.0\.1:\d+: .*quota\.password/,
        );
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /not-this-one|p%ss:word/);
        return true;
      });
    });
  }

  test('a changed password: logged once, unavailable until it is changed back', async () => {
    const store = await openStore(server.url, { password: 'p%ss:word', timeoutMs: 250 });
    try {
      await server.command('AUTH p%ss:word\r\nCONFIG SET requirepass other');
      await server.command('AUTH other\r\nCLIENT KILL TYPE normal SKIPME yes');
      const denied = () => store.logged.filter((line) => line.includes('WRONGPASS'));
      await until(async () => denied().length > 0, { what: 'the denial to be logged' });
      await assert.rejects(async () => store.take(openBuckets('some'), 1), isUnavailable);
      await server.command('AUTH other\r\nCONFIG SET requirepass p%ss:word');
      const isBack = async () =>
        Promise.resolve(store.take(openBuckets('some'), 0)).catch(() => false);
      await until(isBack, { what: 'charges to succeed again' });
      assert.equal(denied().length, 1);
    } finally {
      await store.close();
    }
  });
});

test('names invalid addresses without their password', async () => {
  const opening = openStore('http://me:secret@host:1');
  await assert.rejects(opening, (error: Error) => {
    assert.match(error.message, /http:\/\/…@host:1.*quota\.urls/);
    return !error.message.includes('secret');
  });
  await assert.rejects(openStore(['redis://a', 'redis://b']), /quota\.topology/);
});

suite('a Redis behind TLS', { skip }, () => {
  let server: RedisServer;
  let url: string;
  before(async () => {
    const port = await freePort();
    server = await RedisServer.start(
      (folder) => [
        '--tls-port',
        String(port),
        '--tls-auth-clients',
        'no',
        '--tls-cert-file',
        'server.pem',
        '--tls-key-file',
        'server-key.pem',
        '--tls-ca-cert-file',
        join(folder, 'ca.pem'),
      ],
      (folder) => ensureLocalCertificate(folder, new Date()),
    );
    url = `rediss://localhost:${port}`;
  });
  after(() => server?.stop());

  test('is trusted with its authority only', async () => {
    const ca = readFileSync(join(server.folder, 'ca.pem'), 'utf8');
    assert.equal(await canTake(await openStore(url, { ca })), true);
    const store = await openStore(url);
    assert.equal(await canTake(store), false);
    assert.match(store.logged[0] ?? '', /certificate/);
  });
});

suite('a Redis Cluster', { skip }, () => {
  let nodes: [RedisServer, RedisServer];
  before(async () => {
    nodes = [await startNode(), await startNode()];
    await nodes[0].command('CLUSTER ADDSLOTSRANGE 0 8191');
    await nodes[1].command('CLUSTER ADDSLOTSRANGE 8192 16383');
    const bus = /cluster-port\r\n\$\d+\r\n(\d+)/.exec(
      await nodes[1].command('CONFIG GET cluster-port'),
    )?.[1];
    await nodes[0].command(`CLUSTER MEET 127.0.0.1 ${nodes[1].port} ${bus ?? ''}`);
    for (const node of nodes) {
      const isWhole = async () => (await node.command('CLUSTER INFO')).includes('state:ok');
      await until(isWhole, { what: 'all servers of the cluster' });
    }
  });
  after(() => Promise.all((nodes ?? []).map((node) => node.stop())));

  async function startNode(): Promise<RedisServer> {
    const busPort = await freePort();
    const flags = ['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`];
    return RedisServer.start(() => [...flags, ...permit('weir', '+cluster|slots')]);
  }

  const urls = () => nodes.map(({ url }) => url);
  const options = {
    topology: 'cluster',
    user: 'weir',
    password: 's3cret',
    timeoutMs: 1000,
  } as const;

  test('each account is on one node, both buckets of a charge together', async () => {
    const store = await openStore(urls(), options);
    try {
      for (let i = 0; i < 20; i += 1) {
        const buckets = openBuckets(`account-${i}`);
        assert.equal(await store.take(buckets, 7), true);
        assert.equal(await store.take(buckets, 1), false);
        assert.equal(Math.round(store.level(buckets[1])), -2);
      }
      for (const node of nodes) {
        const keys = Number((await node.command('DBSIZE')).slice(1));
        assert.ok(keys > 0 && keys % 2 === 0, `${keys} keys`);
        // Runs a cached script, which the node may lose.
        await node.command('SCRIPT FLUSH');
      }
      assert.equal(await store.take(openBuckets('forgotten'), 1), true);
    } finally {
      await store.close();
    }
  });

  test('a wrong password: fails to open, whichever node is asked', async () => {
    const dead = `redis://127.0.0.1:${await freePort()}`;
    for (const some of [urls(), [dead, ...urls()]]) {
      const opening = openStore(some, { ...options, password: 'not-this-one' });
      await assert.rejects(opening, /cannot use the quota store at .*WRONGPASS/);
    }
  });

  test('starts with one listed node down, and reconnects to a lost one', async () => {
    const dead = `redis://127.0.0.1:${await freePort()}`;
    const store = await openStore([dead, ...urls()], options);
    try {
      const canTakeAll = async () => {
        for (let i = 0; i < 8; i += 1) await store.take(openBuckets(`again-${i}`), 0);
        return true;
      };
      assert.equal(await canTakeAll(), true);
      for (const node of nodes) await node.command('CLIENT KILL TYPE normal SKIPME yes');
      await until(() => canTakeAll().catch(() => false), { what: 'all accounts to be charged' });
    } finally {
      await store.close();
    }
  });
});
