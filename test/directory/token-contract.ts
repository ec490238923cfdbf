/** Contract of the directory: tokens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAccount } from '../../src/admission/authenticate.ts';
import type { Directory, GrantSource } from '../../src/directory/port.ts';
import { AppError } from '../../src/model/errors.ts';
import { createParts, newDigest, newToken } from './fixtures.ts';

/** @param current returns the directory of the running test. */
export function tokenContract(current: () => Directory & GrantSource): void {
  test('finds a token only by the digest of its secret', async () => {
    const directory = current();
    const { account, receiver } = await createParts(directory);
    const digest = newDigest();
    const token = await directory.createToken(
      newToken({
        accountIds: [account.accountId],
        receiverId: receiver.receiverId,
        expiresAt: '2030-01-01T00:00:00.000Z',
        digest,
      }),
    );
    assert.match(token.tokenId, /^tok_[a-z2-7]{26}$/);
    assert.ok(!JSON.stringify(token).includes(digest));
    assert.deepEqual(await directory.getToken(token.tokenId), token);
    assert.deepEqual(await directory.listTokens(account.accountId), [token]);
    assert.deepEqual(await directory.findToken(digest), {
      tokenId: token.tokenId,
      type: 'ingest',
      accountIds: [account.accountId],
      allAccounts: false,
      receiverId: receiver.receiverId,
      scopes: new Set(['ingest:write']),
      expiresAtMs: Date.UTC(2030, 0),
      revoked: false,
    });
  });

  test('rotation invalidates the old secret, revocation the token', async () => {
    const directory = current();
    const { account } = await createParts(directory);
    const [first, second] = [newDigest(), newDigest()];
    const token = await directory.createToken(
      newToken({ accountIds: [account.accountId], digest: first }),
    );
    await directory.rotateToken(token.tokenId, second);
    assert.equal(await directory.findToken(first), undefined);
    assert.equal((await directory.findToken(second))?.tokenId, token.tokenId);

    const revoked = await directory.revokeToken(token.tokenId);
    assert.ok(revoked?.revokedAt);
    assert.equal((await directory.findToken(second))?.revoked, true);
    assert.deepEqual(await directory.revokeToken(token.tokenId), revoked);
    assert.equal(await directory.deleteToken(token.tokenId), true);
    assert.equal(await directory.findToken(second), undefined);
  });

  test('changes the name and expiry of a token, and removes the expiry', async () => {
    const directory = current();
    const { account } = await createParts(directory);
    const token = await directory.createToken(newToken({ accountIds: [account.accountId] }));
    const expiresAt = '2031-01-01T00:00:00.000Z';
    assert.deepEqual(await directory.updateToken(token.tokenId, { name: 'new', expiresAt }), {
      ...token,
      name: 'new',
      expiresAt,
    });
    const back = await directory.updateToken(token.tokenId, { expiresAt: null });
    assert.equal(back?.expiresAt, null);
    assert.deepEqual(await directory.updateToken(token.tokenId, {}), back);
  });

  test('stores the last use of known tokens and skips unknown ones', async () => {
    const directory = current();
    const { account } = await createParts(directory);
    const token = await directory.createToken(newToken({ accountIds: [account.accountId] }));
    const used = Date.UTC(2026, 5, 1);
    await directory.noteTokensUsed(
      new Map([
        ['tok_unknown', used],
        [token.tokenId, used],
      ]),
    );
    const noted = await directory.getToken(token.tokenId);
    assert.equal(noted?.lastUsedAt, '2026-06-01T00:00:00.000Z');
    await directory.noteTokensUsed(new Map([[token.tokenId, used - 1]]));
    assert.deepEqual(await directory.getToken(token.tokenId), noted);
  });

  test('revokes the tokens of a deleted receiver', async () => {
    const directory = current();
    const { account, receiver } = await createParts(directory);
    const { receiverId } = receiver;
    const token = await directory.createToken(
      newToken({ accountIds: [account.accountId], receiverId }),
    );
    await directory.deleteReceiver(receiverId);
    const left = await directory.getToken(token.tokenId);
    assert.equal(left?.receiverId, receiverId);
    assert.ok(left?.revokedAt);
  });

  test('deletes only the tokens of a deleted account', async () => {
    const directory = current();
    const doomed = await directory.createAccount({ name: 'doomed', eventsPerSecond: null });
    const kept = await directory.createAccount({ name: 'kept', eventsPerSecond: null });
    const accountIds = [doomed.accountId];
    const own = await directory.createToken(newToken({ accountIds }));
    const both = await directory.createToken(
      newToken({ accountIds: [doomed.accountId, kept.accountId] }),
    );
    const operator = await directory.createToken(newToken({ accountIds, scopes: ['operator'] }));
    await directory.deleteAccount(doomed.accountId);
    assert.equal(await directory.getToken(own.tokenId), undefined);
    assert.deepEqual((await directory.getToken(both.tokenId))?.accountIds, [kept.accountId]);
    assert.deepEqual((await directory.getToken(operator.tokenId))?.accountIds, []);
    const unbound = await directory.listUnboundTokens();
    assert.deepEqual(
      unbound.map((token) => token.tokenId),
      [operator.tokenId],
    );
  });

  test('an operator token grants no account after its last account is deleted', async () => {
    const directory = current();
    const doomed = await directory.createAccount({ name: 'doomed', eventsPerSecond: null });
    const kept = await directory.createAccount({ name: 'kept', eventsPerSecond: null });
    const digest = newDigest();
    const scopes = ['operator', 'logs:read'] as const;
    await directory.createToken(newToken({ accountIds: [doomed.accountId], scopes, digest }));
    const before = await directory.findToken(digest);
    assert.throws(() => checkAccount(before!, kept.accountId), isForbidden);
    await directory.deleteAccount(doomed.accountId);
    const after = await directory.findToken(digest);
    assert.throws(() => checkAccount(after!, kept.accountId), isForbidden);
  });

  test('an operator token of all accounts grants those created later', async () => {
    const directory = current();
    const digest = newDigest();
    await directory.createToken(newToken({ scopes: ['operator'], allAccounts: true, digest }));
    const { accountId } = await directory.createAccount({ name: 'new', eventsPerSecond: null });
    checkAccount((await directory.findToken(digest))!, accountId);
  });
}

function isForbidden(error: unknown): boolean {
  return error instanceof AppError && error.code === 'forbidden';
}
