/**
 * Failover from a lost PostgreSQL to a standby at the same address: acknowledged changes are
 * complete, and nodes recover by themselves.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createGrants } from '../../src/directory/grants.ts';
import type { NewToken } from '../../src/directory/port.ts';
import { openPostgresDirectory } from '../../src/directory/postgres.ts';
import { openDirectoryChanges } from '../../src/directory/postgres-changes.ts';
import { AppError } from '../../src/model/errors.ts';
import { newDigest, newToken, rejectsWith } from '../directory/fixtures.ts';
import { until } from '../harness/until.ts';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import { patientTimes as times, postgresMissing, PostgresServer } from './postgres-server.ts';

const grantsOptions = { freshMs: 1, staleForSeconds: 3_600, negativeMs: 0, maxEntries: 100 };
const writers = 8;

describe('a failover', { skip: postgresMissing() }, () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let proxy: FaultProxy;
  let url: string;
  /** Target of the address. */
  const target = { host: '127.0.0.1', port: 0 };
  const nodes: Awaited<ReturnType<typeof openNode>>[] = [];

  before(async () => {
    primary = await PostgresServer.start();
    standby = await PostgresServer.startStandby(primary);
    await primary.run("alter system set synchronous_standby_names = '*'");
    await primary.run('select pg_reload_conf()');
    const isFollowed = "select 1 from pg_stat_replication where sync_state = 'sync'";
    await until(async () => (await primary.run(isFollowed)).length === 1, {
      what: 'the standby to be synchronous',
    });
    target.port = primary.port;
    proxy = await openFaultProxy(target);
    url = primary.url().replace(`:${primary.port}/`, `:${proxy.port}/`);
    nodes.push(await openNode(url), await openNode(url));
  });
  after(async () => {
    for (const node of nodes) await node.close();
    await proxy.close();
    await primary.close();
    await standby.close();
  });

  test('loses no acknowledged change, and every node recovers', async () => {
    const [first, second] = nodes as [Node, Node];
    const accountIds: string[] = [];
    for (const name of ['a', 'b']) {
      const { accountId } = await first.directory.createAccount({ name, eventsPerSecond: null });
      accountIds.push(accountId);
    }
    const known = newToken({ accountIds });
    const { tokenId } = await first.directory.createToken(known);
    for (const { grants } of nodes) assert.ok(await grants.token(known.digest));

    const work = keepWriting(nodes, accountIds);
    await until(() => work.answered.length > 3 * writers, { what: 'enough writes' });
    await primary.crash();
    await until(() => work.refused() > writers, { what: 'writes to be refused' });
    // Before its promotion the standby is read-only.
    target.port = standby.port;
    await rejectsWith('unavailable', first.directory.createToken(newToken({ accountIds })));
    for (const { grants } of nodes) {
      assert.equal((await grants.token(known.digest))?.tokenId, tokenId);
    }
    const answeredBefore = work.answered.length;
    await standby.run('select pg_promote()');
    await until(() => work.answered.length > answeredBefore + writers, {
      what: 'writes to succeed',
    });
    await work.end();

    const tokens = await second.directory.listTokens(accountIds[0]!);
    const kept = new Map(tokens.map((token) => [token.name, token]));
    for (const { name } of work.answered) assert.ok(kept.has(name), `${name} was answered`);
    const bound = accountIds.toSorted();
    for (const token of tokens) assert.deepEqual(token.accountIds.toSorted(), bound);
    assert.deepEqual(await second.directory.listUnboundTokens(), []);

    await first.directory.revokeToken(tokenId);
    await until(async () => (await second.grants.token(known.digest))?.revoked, {
      what: 'the other node to refuse the token',
    });
    await until(() => second.heard.at(-1) === 'heard', { what: 'changes to be received again' });
  });
});

type Node = Awaited<ReturnType<typeof openNode>>;

async function openNode(url: string) {
  const heard: ('heard' | 'not heard')[] = [];
  const nothing = () => undefined;
  const telemetry = {
    directoryFailed: nothing,
    directoryRecovered: nothing,
    directoryAwaited: nothing,
    directoryReached: nothing,
    sharedDirectoryOpened: nothing,
    lastUsedWriteFailed: nothing,
    singleSignOnFailed: nothing,
    adminChanged: nothing,
    quarantineNotDropped: nothing,
    changeFeedLost: () => void heard.push('not heard'),
    changeFeedRestored: () => void heard.push('heard'),
  };
  const directory = await openPostgresDirectory({ url, password: '', poolSize: 6, times });
  const grants = createGrants(directory, grantsOptions, telemetry);
  const known = { source: directory, grants };
  const changes = openDirectoryChanges({ url, password: '', times }, known, telemetry);
  const close = async () => {
    await changes.close();
    await directory.close();
  };
  return { directory, grants, heard, close };
}

/** Tokens of two accounts with several rows each, by several writers. */
function keepWriting(nodes: readonly Node[], accountIds: readonly string[]) {
  const answered: NewToken[] = [];
  let refused = 0;
  let isEnding = false;
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; !isEnding; i += 1) {
      const name = `${writer} ${i}`;
      const token = newToken({ accountIds, name, digest: newDigest() });
      try {
        await nodes[writer % nodes.length]!.directory.createToken(token);
        answered.push(token);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
        refused += 1;
        // Refuses at once; yields to other work.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return {
    answered,
    refused: () => refused,
    end: async () => {
      isEnding = true;
      await writing;
    },
  };
}
