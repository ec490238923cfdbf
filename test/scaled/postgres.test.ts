/** The PostgreSQL directory: the contract, and concurrency of several nodes. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { prepareFirstRun } from '../../src/admin/first-run.ts';
import { writePending } from '../../src/admin/quickstart.ts';
import type { Directory, GrantSource } from '../../src/directory/port.ts';
import { openPostgresDirectory } from '../../src/directory/postgres.ts';
import { digestSecret } from '../../src/codec/token-secret.ts';
import { recoverToken } from '../../src/maintenance/recover.ts';
import { directoryContract } from '../directory/contract.ts';
import { createParts, rejectsWith } from '../directory/fixtures.ts';
import { postgresMissing, PostgresServer } from './postgres-server.ts';

type Node = Directory & GrantSource;

describe('on a real server', { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.close());

  const open = (url: string) => openPostgresDirectory({ url, password: '', poolSize: 5 });

  /** Opens several nodes on one empty directory, concurrently. */
  const withNodes = async (count: number, work: (nodes: readonly Node[]) => Promise<void>) => {
    const url = await server.newUrl();
    const nodes = await Promise.all(Array.from({ length: count }, () => open(url)));
    try {
      await work(nodes);
    } finally {
      await Promise.all(nodes.map((node) => node.close()));
    }
  };

  directoryContract('postgres', async () => open(await server.newUrl()));

  test('concurrent starts migrate once', async () => {
    await withNodes(4, async ([first, ...others]) => {
      const account = await first!.createAccount({ name: 'acme', eventsPerSecond: null });
      for (const node of others) assert.deepEqual(await node.listAccounts(), [account]);
    });
  });

  /** An account with tokens `tok_1` and so on. */
  async function createTokens(node: Node, url: string, count: number): Promise<string> {
    const { accountId } = await node.createAccount({ name: 'large', eventsPerSecond: null });
    await server.run(
      `insert into tokens (token_id, type, name, digest, scopes, created_at)
       select 'tok_' || i, 'ingest', 'token', 'digest ' || i, '["ingest:write"]', ''
       from generate_series(1, ${count}) i`,
      url,
    );
    await server.run(
      `insert into token_accounts select 'tok_' || i, '${accountId}'
       from generate_series(1, ${count}) i`,
      url,
    );
    return accountId;
  }

  test('revokes a token while the last uses of 50,000 are written', async () => {
    const url = await server.newUrl();
    const [one, two] = [await open(url), await open(url)];
    await createTokens(one, url, 50_000);
    const uses = Array.from({ length: 50_000 }, (_, i) => [`tok_${i + 1}`, Date.now()] as const);
    const noted = one.noteTokensUsed(new Map(uses));
    for (let i = 1; i <= 50_000; i += 10_000) {
      assert.notEqual((await two.revokeToken(`tok_${i}`))?.revokedAt, null);
    }
    await noted;
    assert.notEqual((await two.getToken('tok_50000'))?.lastUsedAt, null);
    await Promise.all([one.close(), two.close()]);
  });

  test('deletes an account with 10,000 tokens, while other nodes make changes', async () => {
    const url = await server.newUrl();
    const [one, two] = [await open(url), await open(url)];
    const accountId = await createTokens(one, url, 10_000);
    const deleted = one.deleteAccount(accountId);
    await two.createAccount({ name: 'other', eventsPerSecond: null });
    assert.equal(await deleted, true);
    assert.equal(await one.getToken('tok_1'), undefined);
    await Promise.all([one.close(), two.close()]);
  });

  test('refuses tables of a newer version', async () => {
    const url = await server.newUrl();
    await (await open(url)).close();
    await server.run(`insert into directory_migrations values (999, '')`, url);
    await assert.rejects(open(url), /cannot open the directory.*it has version 999/);
  });

  test('one of several concurrent first runs fills the directory', async () => {
    const folders = [1, 2, 3].map(() => mkdtempSync(join(tmpdir(), 'weir-node-')));
    try {
      await withNodes(3, async (nodes) => {
        const runs = await Promise.all(
          nodes.map((node, index) => prepareFirstRun(node, folders[index]!)),
        );
        const filled = runs.filter((run) => run !== undefined);
        assert.equal(filled.length, 1);
        assert.equal((await nodes[0]!.listAccounts()).length, 1);
        assert.ok(await nodes[0]!.findToken(digestSecret(filled[0]!.accessToken)));
        const secrets = folders.map((folder) => readdirSync(folder));
        assert.deepEqual(secrets.flat(), ['first-run.json']);
      });
    } finally {
      for (const folder of folders) rmSync(folder, { recursive: true });
    }
  });

  test('a node whose first run was interrupted drops secrets that open nothing', async () => {
    const [mine, other] = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'weir-node-')));
    try {
      await withNodes(2, async ([first, second]) => {
        const unused = { ...(await prepareFirstRun(first!, mine!))! };
        await first!.close();
        const url = await server.newUrl();
        const directory = await open(url);
        assert.ok(await prepareFirstRun(directory, other!));
        writePending(mine!, unused);
        assert.equal(await prepareFirstRun(directory, mine!), undefined);
        assert.deepEqual(readdirSync(mine!), []);
        await directory.close();
        // Secrets that open something are kept.
        writePending(mine!, unused);
        assert.deepEqual(await prepareFirstRun(second!, mine!), unused);
      });
    } finally {
      for (const folder of [mine!, other!]) rmSync(folder, { recursive: true });
    }
  });

  test('preconditions of a change hold under concurrency', async () => {
    await withNodes(3, async (nodes) => {
      const { accountId } = await nodes[0]!.createAccount({ name: 'acme', eventsPerSecond: null });
      const saved = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) =>
          nodes[i % 3]!.createView({ accountId, name: `view ${i}`, query: '' }, 5),
        ),
      );
      assert.equal(saved.filter(({ status }) => status === 'fulfilled').length, 5);
      for (const one of saved) {
        if (one.status === 'rejected') assert.match(String(one.reason), /cannot save another view/);
      }
      assert.equal((await nodes[0]!.listViews(accountId)).length, 5);
    });
  });

  test('statistics of nodes add up, and a receiver deleted meanwhile harms none', async () => {
    await withNodes(3, async (nodes) => {
      const { receiver } = await createParts(nodes[0]!);
      const ids = [receiver.receiverId];
      for (let i = 0; i < 20; i += 1) {
        ids.push((await nodes[0]!.createReceiver({ ...receiver, name: `r${i}` })).receiverId);
      }
      const counts = { minute: 1, requests: 1, refused: 0, accepted: 1, rejected: 0, bytes: 1 };
      const add = (node: Node, receiverIds: readonly string[]) =>
        node.addStatistics({
          minutes: receiverIds.map((receiverId) => ({ receiverId, ...counts })),
          reasons: [],
          samples: [],
          activities: receiverIds.map((receiverId) => ({
            receiverId,
            lastSeenAt: '2026-01-01T00:00:00.000Z',
            lastAcceptedAt: null,
          })),
        });
      const orders = [ids, ids.toReversed(), ids.toSorted()];
      const rounds = Array.from({ length: 30 }, (_, i) => add(nodes[i % 3]!, orders[i % 3]!));
      await Promise.all([...rounds, nodes[1]!.deleteReceiver(ids.pop()!)]);
      for (const receiverId of [ids[0]!, ids.at(-1)!]) {
        const { minutes } = await nodes[0]!.findStatistics(receiverId, {
          fromMinute: 0,
          untilMinute: 9,
        });
        assert.equal(minutes[0]?.accepted, 30);
      }
    });
  });

  test('sorts text by bytes in any server locale', async () => {
    await withNodes(1, async ([node]) => {
      const { accountId } = await node!.createAccount({ name: 'acme', eventsPerSecond: null });
      for (const name of ['a', 'B', 'Z']) await node!.createView({ accountId, name, query: '' }, 9);
      const names = (await node!.listViews(accountId)).map(({ name }) => name);
      assert.deepEqual(names, ['B', 'Z', 'a']);
    });
  });

  test('refuses an id that PostgreSQL cannot store as text, and continues', async () => {
    await withNodes(1, async ([node]) => {
      await rejectsWith('malformed', node!.findReceiver('rcv_\0'));
      assert.deepEqual(await node!.listAccounts(), []);
    });
  });

  test('accepts a password in or beside the URL and never prints it', async () => {
    const password = 'p@ss/w:rd?%41 +';
    await server.run(`create role guarded login superuser password '${password}'`);
    const { options = '' } = Object.fromEntries(new URL(await server.newUrl()).searchParams);
    const url = server.url({ options }, 'guarded');
    const beside = await openPostgresDirectory({ url, password, poolSize: 5 });
    assert.deepEqual(await beside.listAccounts(), []);
    await beside.close();
    const within = server.url({ options }, `guarded:${encodeURIComponent(password)}`);
    await (await open(within)).close();
    const wrong = openPostgresDirectory({ url, password: 'wr0ng', poolSize: 5 });
    await assert.rejects(wrong, (error: Error) => {
      assert.match(
        error.message,
        /cannot open the directory.*password authentication.*directory\.password/,
      );
      return !error.message.includes('wr0ng');
    });
  });

  test('refuses another kind of URL without printing it', async () => {
    for (const url of [
      'mysql://weir:s3cret@db/weir',
      'weir:s3cret@db',
      'postgres://weir:s3cret@[',
    ]) {
      await assert.rejects(open(url), (error: Error) => {
        assert.match(error.message, /^cannot (?:use|open) /);
        return !error.message.includes('s3cret');
      });
    }
  });

  test('replaces a lost operator token while nodes run', async () => {
    const url = await server.newUrl();
    const node = await open(url);
    const { accountId } = await node.createAccount({ name: 'acme', eventsPerSecond: null });
    const { token } = await recoverToken({ dataDir: '/nowhere', url, password: undefined });
    assert.deepEqual((await node.findToken(digestSecret(token)))?.accountIds, [accountId]);
    await node.close();
  });

  test('names the address of a server that is missing', async () => {
    const url = 'postgres://weir@127.0.0.1:1/weir';
    await assert.rejects(open(url), /cannot open the directory.*ECONNREFUSED 127.0.0.1:1/);
  });
});
