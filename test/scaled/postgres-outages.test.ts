/**
 * PostgreSQL stopped, paused and restarted under load: cached entries are valid for their time,
 * everything else is refused at once, and all recovers.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createGrants, type GrantsOptions } from '../../src/directory/grants.ts';
import type { Directory, GrantSource } from '../../src/directory/port.ts';
import { openPostgresDirectory } from '../../src/directory/postgres.ts';
import { openDirectoryChanges } from '../../src/directory/postgres-changes.ts';
import { AppError } from '../../src/model/errors.ts';
import type { DirectoryEvents } from '../../src/telemetry/node-events.ts';
import { until } from '../harness/until.ts';
import { newDigest, newToken, rejectsWith } from '../directory/fixtures.ts';
import { patientTimes as times, postgresMissing, PostgresServer } from './postgres-server.ts';

/** No expiry and no refresh, unless a test sets one. */
const patient: GrantsOptions = {
  freshMs: 3_600_000,
  staleForSeconds: 3_600,
  negativeMs: 0,
  maxEntries: 100,
};

describe('on a real server', { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  let url: string;
  let directory: Directory & GrantSource;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.close());
  beforeEach(async () => {
    url = await server.newUrl();
    directory = await openPostgresDirectory({ url, password: '', poolSize: 6, times });
  });
  afterEach(() => directory.close());

  const createToken = async () => {
    const digest = newDigest();
    const { accountId } = await directory.createAccount({ name: 'acme', eventsPerSecond: null });
    const { tokenId } = await directory.createToken(newToken({ accountIds: [accountId], digest }));
    return { digest, tokenId };
  };

  /** Cache and notifications of another node. */
  const openNode = async (nodeTimes = times, options = patient) => {
    const heard: string[] = [];
    const telemetry = eventsInto(heard);
    const address = { url, password: '', times: nodeTimes };
    const source = await openPostgresDirectory({ ...address, poolSize: 6 });
    const grants = createGrants(source, options, telemetry);
    const listening = Promise.withResolvers<void>();
    const invalidate = () => {
      grants.invalidate();
      listening.resolve();
    };
    const known = { source, grants: { invalidate } };
    const changes = openDirectoryChanges(address, known, telemetry);
    await listening.promise;
    const close = async () => {
      await changes.close();
      await source.close();
    };
    return { grants, heard, close };
  };

  const outages = [
    ['stopped', () => server.stop(), () => server.start()],
    ['paused', async () => server.pause(), async () => server.resume()],
  ] as const;

  for (const [what, begin, end] of outages) {
    test(`${what}: cached entries work, the rest is refused, all recovers`, async () => {
      let now = 0;
      const grants = createGrants(
        directory,
        { ...patient, freshMs: 1, staleForSeconds: 60 },
        eventsInto([]),
        () => now,
      );
      const { digest, tokenId } = await createToken();
      assert.equal((await grants.token(digest))?.tokenId, tokenId);
      await begin();
      // Longer than acceptable if each request had to time out.
      for (now = 1_000; now < 60_000; now += 1_000) {
        assert.equal((await grants.token(digest))?.tokenId, tokenId);
        await rejectsWith('unavailable', grants.token(newDigest()));
        await rejectsWith('unavailable', directory.listAccounts());
        await rejectsWith('unavailable', directory.deleteAccount('x'));
      }
      now = 61_000;
      await rejectsWith('unavailable', grants.token(digest));
      await end();
      const again = await until(
        () => {
          now += 1_000;
          return grants.token(digest).catch(unlessUnavailable);
        },
        { what: 'the token to be accepted again' },
      );
      assert.equal(again.tokenId, tokenId);
      await until(
        () =>
          directory.createAccount({ name: 'b', eventsPerSecond: null }).catch(unlessUnavailable),
        {
          what: 'a write to succeed again',
        },
      );
    });

    test(`${what} during writes: acknowledged changes persist`, async () => {
      const writes = Array.from({ length: 40 }, (_, i) =>
        directory.createAccount({ name: `${i}`, eventsPerSecond: null }),
      );
      await Promise.any(writes);
      await begin();
      const results = await Promise.allSettled(writes);
      await end();
      for (const result of results) {
        if (result.status === 'rejected') unlessUnavailable(result.reason);
      }
      const accounts = await until(() => directory.listAccounts().catch(unlessUnavailable), {
        what: 'the directory to answer again',
      });
      const stored = new Set(accounts.map(({ name }) => name));
      for (const result of results) {
        if (result.status === 'fulfilled') assert.ok(stored.has(result.value.name));
      }
    });

    test(`${what}: another node receives changes again`, async () => {
      const { digest, tokenId } = await createToken();
      const node = await openNode();
      assert.equal((await node.grants.token(digest))?.revoked, false);
      await begin();
      await until(() => node.heard.includes('changes not heard'), {
        what: 'the loss to be detected',
      });
      await end();
      await until(() => directory.revokeToken(tokenId).catch(unlessUnavailable), {
        what: 'the revocation to succeed',
      });
      await until(async () => (await node.grants.token(digest).catch(unlessUnavailable))?.revoked, {
        what: 'the other node to refuse the token',
      });
      await until(() => node.heard.includes('changes heard'), {
        what: 'the listener to reconnect',
      });
      await node.close();
    });
  }

  test('stopped: writes work as soon as a look-up succeeds', async () => {
    const slow = { ...times, pauseMs: 2_000 };
    const node = await openPostgresDirectory({ url, password: '', poolSize: 6, times: slow });
    await node.listAccounts();
    await server.stop();
    await rejectsWith('unavailable', node.createAccount({ name: 'a', eventsPerSecond: null }));
    await server.start();
    await until(() => node.listAccounts().catch(unlessUnavailable), {
      what: 'a look-up to succeed again',
    });
    await node.createAccount({ name: 'b', eventsPerSecond: null });
    await node.close();
  });

  test('stopped: cached entries work until look-ups succeed', async () => {
    const { digest, tokenId } = await createToken();
    const node = await openNode({ ...times, pauseMs: 2_000 }, { ...patient, freshMs: 1 });
    const isKnown = async () => (await node.grants.token(digest))?.tokenId === tokenId;
    assert.ok(await isKnown());
    await server.stop();
    await until(() => node.heard.includes('changes not heard'), {
      what: 'the loss to be detected',
    });
    await until(isKnown, { what: 'the cached token to be accepted' });
    await server.start();
    await until(
      async () => {
        assert.ok(await isKnown());
        return node.heard.includes('changes heard');
      },
      { what: 'the listener to reconnect' },
    );
    assert.ok(await isKnown());
    await node.close();
  });

  test('another node receives each change without polling', async () => {
    const { digest, tokenId } = await createToken();
    const node = await openNode();
    for (let round = 0; round < 5; round += 1) {
      assert.equal((await node.grants.token(digest))?.revoked, false);
      const replaced = newDigest();
      await directory.rotateToken(tokenId, replaced);
      await until(async () => (await node.grants.token(digest)) === undefined, {
        what: 'the old secret to be refused',
        everyMs: 1,
      });
      await directory.rotateToken(tokenId, digest);
      await until(async () => (await node.grants.token(digest)) !== undefined, {
        what: 'the secret to be accepted',
        everyMs: 1,
      });
    }
    await directory.revokeToken(tokenId);
    await until(async () => (await node.grants.token(digest))?.revoked, {
      what: 'the revoked token to be refused',
    });
    assert.deepEqual(node.heard, []);
    await node.close();
  });

  test('closes while the server is paused', async () => {
    const node = await openNode();
    await node.grants.token(newDigest());
    server.pause();
    await node.close();
    server.resume();
  });

  test('a write blocked by another node fails as unavailable, and reads go on', async () => {
    const holder = await server.hold("select pg_advisory_xact_lock(x'77656972'::int)");
    const write = directory.createAccount({ name: 'waits', eventsPerSecond: null });
    const refused = rejectsWith('unavailable', write);
    assert.deepEqual(await directory.listAccounts(), []);
    await refused;
    await holder.release();
    await directory.createAccount({ name: 'goes on', eventsPerSecond: null });
  });
});

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
}

function eventsInto(heard: string[]): DirectoryEvents {
  return {
    directoryFailed: () => undefined,
    directoryRecovered: () => undefined,
    directoryAwaited: () => undefined,
    directoryReached: () => undefined,
    sharedDirectoryOpened: () => undefined,
    lastUsedWriteFailed: () => undefined,
    changeFeedLost: () => heard.push('changes not heard'),
    changeFeedRestored: () => heard.push('changes heard'),
    singleSignOnFailed: () => undefined,
    adminChanged: () => undefined,
    quarantineNotDropped: () => undefined,
  };
}
