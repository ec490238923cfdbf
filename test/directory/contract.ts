/** The contract of the Directory port, called by the test file of each implementation. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Directory, GrantSource } from '../../src/directory/port.ts';
import { createParts, createSeed, newDigest, newToken, rejectsWith } from './fixtures.ts';
import { sessionContract } from './session-contract.ts';
import { statisticsContract } from './statistics-contract.ts';
import { ticketContract } from './ticket-contract.ts';
import { tokenContract } from './token-contract.ts';
import { ruleContract } from './rule-contract.ts';
import { viewContract } from './view-contract.ts';

/** @param open opens a new, empty directory; the contract closes it. */
export function directoryContract(
  name: string,
  open: () => Promise<Directory & GrantSource>,
): void {
  describe(name, () => {
    let directory: Directory & GrantSource;
    beforeEach(async () => {
      directory = await open();
    });
    afterEach(() => directory.close());

    test('refuses an id that is missing, rather than taking any row', async () => {
      const { stream, account } = await createParts(directory);
      const { viewId } = await directory.createView(
        { accountId: account.accountId, name: 'mine', query: '' },
        10,
      );
      const missing = undefined as unknown as string;
      await assert.rejects(directory.deleteView(missing), /undefined/);
      await assert.rejects(directory.getStream(missing), /undefined/);
      await assert.rejects(directory.listReceivers(missing), /undefined/);
      assert.equal((await directory.getView(viewId))?.viewId, viewId);
      assert.deepEqual(await directory.getStream(stream.streamId), stream);
    });

    test('creates, lists, changes and deletes an account', async () => {
      const account = await directory.createAccount({ name: 'acme', eventsPerSecond: 500 });
      assert.match(account.accountId, /^[0-9a-f-]{36}$/);
      assert.deepEqual(await directory.getAccount(account.accountId), account);
      assert.deepEqual(await directory.listAccounts(), [account]);

      const changed = await directory.updateAccount(account.accountId, { eventsPerSecond: null });
      assert.deepEqual(changed, { ...account, eventsPerSecond: null });
      assert.deepEqual(await directory.updateAccount(account.accountId, {}), changed);

      assert.equal(await directory.deleteAccount(account.accountId), true);
      assert.equal(await directory.getAccount(account.accountId), undefined);
    });

    test('resolves to undefined or false for unknown ids', async () => {
      const id = randomUUID();
      assert.equal(await directory.getAccount(id), undefined);
      assert.equal(await directory.updateAccount(id, { name: 'x' }), undefined);
      assert.equal(await directory.deleteAccount(id), false);
      assert.equal(await directory.getStream(id), undefined);
      assert.equal(await directory.updateStream(id, { name: 'x' }), undefined);
      assert.equal(await directory.deleteStream(id), false);
      assert.equal(await directory.getReceiver(id), undefined);
      assert.equal(await directory.updateReceiver(id, { name: 'x' }), undefined);
      assert.equal(await directory.deleteReceiver(id), false);
      assert.equal(await directory.getToken(id), undefined);
      assert.equal(await directory.updateToken(id, { name: 'x' }), undefined);
      assert.equal(await directory.rotateToken(id, newDigest()), undefined);
      assert.equal(await directory.revokeToken(id), undefined);
      assert.equal(await directory.deleteToken(id), false);
      assert.equal(await directory.findToken(newDigest()), undefined);
      assert.equal(await directory.findReceiver(id), undefined);
    });

    test('creates, changes and lists a stream for its account only', async () => {
      const { account, stream } = await createParts(directory);
      const other = await directory.createAccount({ name: 'other', eventsPerSecond: null });
      assert.deepEqual(await directory.listStreams(account.accountId), [stream]);
      assert.deepEqual(await directory.listStreams(other.accountId), []);
      assert.deepEqual(await directory.listAllStreams(), [stream]);

      const dataDeletedUntil = '2026-01-02T03:04:05.678Z';
      const changed = await directory.updateStream(stream.streamId, {
        retentionDays: 7,
        dataDeletedUntil,
      });
      assert.deepEqual(changed, { ...stream, retentionDays: 7, dataDeletedUntil });
      assert.deepEqual(await directory.getStream(stream.streamId), changed);
      const levels = async (downsampling: string | null) =>
        (await directory.updateStream(stream.streamId, { downsampling }))?.downsampling;
      assert.equal(stream.downsampling, null);
      assert.equal(await levels('30d:5m'), '30d:5m');
      await directory.updateStream(stream.streamId, { retentionDays: 7 });
      assert.equal((await directory.getStream(stream.streamId))?.downsampling, '30d:5m');
      assert.equal(await levels(null), null);
      const dataOf = async (until: string) =>
        (await directory.updateStream(stream.streamId, { dataDeletedUntil: until }))
          ?.dataDeletedUntil;
      assert.equal(await dataOf('2026-01-02T03:04:05.677Z'), dataDeletedUntil);
      assert.equal(await dataOf('2026-01-02T03:04:05.679Z'), '2026-01-02T03:04:05.679Z');
    });

    test('refuses to delete accounts and streams in use', async () => {
      const { account, stream, receiver } = await createParts(directory);
      await rejectsWith('conflict', directory.deleteAccount(account.accountId));
      await rejectsWith('conflict', directory.deleteStream(stream.streamId));
      assert.equal(await directory.deleteReceiver(receiver.receiverId), true);
      await rejectsWith('conflict', directory.deleteAccount(account.accountId));
      assert.deepEqual(await directory.listDeletedStreams(), []);
      assert.equal(await directory.deleteStream(stream.streamId), true);
      assert.equal(await directory.deleteAccount(account.accountId), true);
      const { accountId, streamId } = stream;
      assert.deepEqual(await directory.listDeletedStreams(), [{ streamId, accountId }]);
    });

    test('refuses references to missing resources and those of other accounts', async () => {
      const { account, stream, receiver } = await createParts(directory);
      const other = await directory.createAccount({ name: 'other', eventsPerSecond: null });
      const accountId = randomUUID();
      const { receiverId: _, createdAt: __, ...rest } = receiver;
      await rejectsWith(
        'not_found',
        directory.createStream({ accountId, name: 'x', retentionDays: 1 }),
      );
      await rejectsWith(
        'not_found',
        directory.createReceiver({ ...rest, accountId: other.accountId }),
      );
      await rejectsWith('not_found', directory.createToken(newToken({ accountIds: [accountId] })));
      await rejectsWith(
        'not_found',
        directory.createToken(
          newToken({ accountIds: [other.accountId], receiverId: receiver.receiverId }),
        ),
      );
      const foreign = await directory.createStream({
        accountId: other.accountId,
        name: 'foreign',
        retentionDays: 1,
      });
      await rejectsWith(
        'not_found',
        directory.updateReceiver(receiver.receiverId, { streamId: foreign.streamId }),
      );
      assert.deepEqual(await directory.listStreams(account.accountId), [stream]);
      assert.deepEqual(await directory.listReceivers(other.accountId), []);
      assert.deepEqual(await directory.listTokens(other.accountId), []);
    });

    test('stores every field of a receiver and changes each limit separately', async () => {
      const { account, receiver } = await createParts(directory);
      assert.match(receiver.receiverId, /^rcv_[a-z2-7]{26}$/);
      assert.deepEqual(await directory.getReceiver(receiver.receiverId), receiver);
      assert.deepEqual(await directory.listReceivers(account.accountId), [receiver]);
      const changed = await directory.updateReceiver(receiver.receiverId, {
        active: false,
        allowedCidrs: ['10.0.0.0/8', '2001:db8::/32'],
        limits: { burstEvents: 9 },
      });
      assert.deepEqual(changed, {
        ...receiver,
        active: false,
        allowedCidrs: ['10.0.0.0/8', '2001:db8::/32'],
        limits: { ...receiver.limits, burstEvents: 9 },
      });
      assert.deepEqual(await directory.findReceiver(receiver.receiverId), {
        receiver: changed,
        accountEventsPerSecond: account.eventsPerSecond,
      });
    });

    tokenContract(() => directory);
    statisticsContract(() => directory);
    viewContract(() => directory);
    ruleContract(() => directory);
    ticketContract(() => directory);
    sessionContract(() => directory);

    test('writes a seed once, into an empty directory only', async () => {
      const { seed, digest } = createSeed();
      assert.equal(await directory.seed(seed), true);
      assert.equal(await directory.seed(createSeed().seed), false);
      const { accountId } = seed.account;
      assert.equal((await directory.listAccounts()).length, 1);
      assert.equal((await directory.listStreams(accountId))[0]?.streamId, seed.stream.streamId);
      assert.equal((await directory.listReceivers(accountId)).length, 1);
      assert.deepEqual((await directory.findToken(digest))?.accountIds, [accountId]);
    });

    test('rolls back a seed that fails', async () => {
      const { seed } = createSeed();
      const tokens = seed.tokens.map((token) => ({ ...token, receiverId: 'rcv_unknown' }));
      await rejectsWith('not_found', directory.seed({ ...seed, tokens }));
      assert.deepEqual(await directory.listAccounts(), []);
      assert.equal(await directory.seed(seed), true);
    });

    test('is unavailable when closed', async () => {
      await directory.close();
      await rejectsWith('unavailable', directory.listAccounts());
      await rejectsWith(
        'unavailable',
        directory.createAccount({ name: 'late', eventsPerSecond: null }),
      );
    });
  });
}
