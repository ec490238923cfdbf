/** Contract of the directory: sessions of the explorer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Directory, Session } from '../../src/directory/port.ts';
import { until } from '../harness/until.ts';
import { newDigest } from './fixtures.ts';

const limits = { maxMs: 60_000, idleMs: 60_000, maxSessions: 10 };

/** @param current returns the directory of the running test. */
export function sessionContract(current: () => Directory): void {
  const newSession = (owner = newDigest()): Session => ({
    digest: newDigest(),
    tokenDigest: newDigest(),
    owner,
  });

  test('finds a session until it is ended, and no unknown one', async () => {
    const directory = current();
    const session = newSession();
    const other = newSession(session.owner);
    await directory.createSession(session, limits);
    await directory.createSession(other, limits);
    assert.deepEqual(await directory.useSession(session.digest, limits), session);
    assert.deepEqual(await directory.endSession(session.digest), [session]);
    assert.deepEqual(await directory.endSession(session.digest), []);
    assert.equal(await directory.useSession(session.digest, limits), undefined);
    assert.deepEqual(await directory.useSession(other.digest, limits), other);
    assert.equal(await directory.useSession(newDigest(), limits), undefined);
    await directory.endSession(newDigest());
  });

  test('ends all sessions of one owner', async () => {
    const directory = current();
    const stranger = newSession();
    const own = [newSession('me'), newSession('me')];
    for (const session of [...own, stranger]) await directory.createSession(session, limits);
    const ended = await directory.endSessionsOf('me');
    assert.deepEqual(new Set(ended), new Set(own));
    for (const { digest } of own) {
      assert.equal(await directory.useSession(digest, limits), undefined);
    }
    assert.deepEqual(await directory.useSession(stranger.digest, limits), stranger);
  });

  test('a session expires, used or not', async () => {
    const directory = current();
    const session = newSession();
    await directory.createSession(session, { ...limits, maxMs: 1 });
    const isGone = async () =>
      (await directory.useSession(session.digest, limits)) === undefined || undefined;
    await until(isGone, { what: 'the session to expire' });
  });

  test('an unused session expires', async () => {
    const directory = current();
    const session = newSession();
    await directory.createSession(session, limits);
    const isGone = async () =>
      (await directory.useSession(session.digest, { idleMs: 1 })) === undefined || undefined;
    await until(isGone, { what: 'the session to expire' });
    assert.deepEqual(await directory.useSession(session.digest, limits), session);
  });

  test('gives a link to exactly one of concurrent takers', async () => {
    const directory = current();
    const link = { digest: newDigest(), tokenDigest: newDigest() };
    const other = { digest: newDigest(), tokenDigest: newDigest() };
    await directory.keepSignInLink(link, 60_000);
    await directory.keepSignInLink(other, 60_000);
    const takers = Array.from({ length: 12 }, () => directory.takeSignInLink(link.digest));
    const taken = (await Promise.all(takers)).filter((each) => each !== undefined);
    assert.deepEqual(taken, [link]);
    assert.deepEqual(await directory.takeSignInLink(other.digest), other);
    assert.equal(await directory.takeSignInLink(newDigest()), undefined);
  });

  test('a link expires, and a new one of its token replaces it', async () => {
    const directory = current();
    const tokenDigest = newDigest();
    const first = { digest: newDigest(), tokenDigest };
    const second = { digest: newDigest(), tokenDigest };
    await directory.keepSignInLink(first, 60_000);
    await directory.keepSignInLink(second, 60_000);
    assert.equal(await directory.takeSignInLink(first.digest), undefined);
    assert.deepEqual(await directory.takeSignInLink(second.digest), second);
    await directory.keepSignInLink(first, -1);
    assert.equal(await directory.takeSignInLink(first.digest), undefined);
  });

  test('keeps a maximum of sessions of one owner', async () => {
    const directory = current();
    const sessions = [newSession('me'), newSession('me'), newSession('me')];
    const stranger = newSession();
    await directory.createSession(stranger, limits);
    for (const session of sessions) {
      await directory.createSession(session, { ...limits, maxSessions: 2 });
    }
    const found = await Promise.all(
      [...sessions, stranger].map(({ digest }) => directory.useSession(digest, limits)),
    );
    const kept = found.filter((session) => session !== undefined);
    assert.equal(kept.length, 3);
    assert.ok(kept.includes(found[2] as Session), 'the newest is kept');
    assert.ok(kept.includes(found[3] as Session), 'those of others are kept');
  });
}
