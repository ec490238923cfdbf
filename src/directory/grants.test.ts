/** The cached view of the directory, with a fake clock and source. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TokenGrant } from '../model/account.ts';
import { AppError } from '../model/errors.ts';
import type { DirectoryEvents } from '../telemetry/node-events.ts';
import { createGrants, type GrantsOptions } from './grants.ts';
import type { GrantSource } from './port.ts';

test('serves an answer for five seconds without another look-up', async () => {
  const { grants, source, clock } = setUp();
  source.tokens.set('a', grantOf('tok_a'));
  assert.equal((await grants.token('a'))?.tokenId, 'tok_a');
  clock.ms += 4_999;
  await grants.token('a');
  assert.deepEqual(source.asked, ['a']);
  clock.ms += 1;
  await grants.token('a');
  assert.deepEqual(source.asked, ['a', 'a']);
});

test('applies a revocation by another node within five seconds', async () => {
  const { grants, source, clock } = setUp();
  source.tokens.set('a', grantOf('tok_a'));
  await grants.token('a');
  source.tokens.set('a', { ...grantOf('tok_a'), revoked: true });
  clock.ms += 5_000;
  assert.equal((await grants.token('a'))?.revoked, true);
});

test('applies a revocation by this node at once', async () => {
  const { grants, source } = setUp();
  source.tokens.set('a', grantOf('tok_a'));
  await grants.token('a');
  source.tokens.set('a', { ...grantOf('tok_a'), revoked: true });
  grants.invalidate();
  assert.equal((await grants.token('a'))?.revoked, true);
});

test('neither caches nor shares a look-up in flight during invalidate()', async () => {
  const { grants, source } = setUp();
  source.tokens.set('a', grantOf('tok_a'));
  const release = source.hold();
  const before = grants.token('a');
  source.tokens.set('a', { ...grantOf('tok_a'), revoked: true });
  grants.invalidate();
  const after = grants.token('a');
  release();
  assert.equal((await before)?.revoked, false);
  assert.equal((await after)?.revoked, true);
  assert.equal((await grants.token('a'))?.revoked, true);
});

test('concurrent look-ups of one key share one query', async () => {
  const { grants, source } = setUp();
  source.tokens.set('a', grantOf('tok_a'));
  await Promise.all([grants.token('a'), grants.token('a'), grants.token('a')]);
  assert.deepEqual(source.asked, ['a']);
});

test('serves a known token for staleForSeconds during an outage, then is unavailable', async () => {
  const { grants, source, clock, events } = setUp();
  source.tokens.set('a', grantOf('tok_a'));
  await grants.token('a');
  source.away = true;
  clock.ms += 60_000;
  assert.equal((await grants.token('a'))?.tokenId, 'tok_a');
  clock.ms += 1;
  await rejectsUnavailable(grants.token('a'));
  assert.deepEqual(events, ['failed']);
  source.away = false;
  clock.ms += 500;
  assert.equal((await grants.token('a'))?.tokenId, 'tok_a');
  assert.deepEqual(events, ['failed', 'recovered']);
});

test('answers unavailable, not unknown, for an uncached token during an outage', async () => {
  const { grants, source } = setUp();
  source.away = true;
  await rejectsUnavailable(grants.token('a'));
  await rejectsUnavailable(grants.receiver('rcv'));
  await rejectsUnavailable(grants.streams('account'));
});

test('pauses look-ups after a failure', async () => {
  const { grants, source, clock } = setUp();
  source.away = true;
  await rejectsUnavailable(grants.token('a'));
  await rejectsUnavailable(grants.token('b'));
  assert.deepEqual(source.asked, ['a']);
  clock.ms += 500;
  await rejectsUnavailable(grants.token('b'));
  assert.deepEqual(source.asked, ['a', 'b']);
});

test('a change of the directory ends the pause after a failure', async () => {
  const { grants, source } = setUp();
  source.tokens.set('a', grantOf('tok_a'));
  source.away = true;
  await rejectsUnavailable(grants.token('a'));
  source.away = false;
  grants.invalidate();
  assert.equal((await grants.token('a'))?.tokenId, 'tok_a');
});

test('caches an unknown token for at most a second', async () => {
  const { grants, source, clock } = setUp();
  assert.equal(await grants.token('a'), undefined);
  source.tokens.set('a', grantOf('tok_a'));
  clock.ms += 999;
  assert.equal(await grants.token('a'), undefined);
  clock.ms += 1;
  assert.equal((await grants.token('a'))?.tokenId, 'tok_a');
});

test('a flood of unknown tokens evicts no known one', async () => {
  const { grants, source } = setUp({ maxEntries: 2 });
  source.tokens.set('a', grantOf('tok_a'));
  source.tokens.set('b', grantOf('tok_b'));
  await grants.token('a');
  await grants.token('b');
  for (let i = 0; i < 100; i += 1) assert.equal(await grants.token(`unknown-${i}`), undefined);
  source.asked.length = 0;
  await grants.token('a');
  await grants.token('b');
  assert.deepEqual(source.asked, []);
  // Only the last two unknown ones are remembered.
  await grants.token('unknown-99');
  await grants.token('unknown-0');
  assert.deepEqual(source.asked, ['unknown-0']);
});

test('keeps at most maxEntries known answers and evicts the oldest', async () => {
  const { grants, source } = setUp({ maxEntries: 2 });
  for (const key of ['a', 'b', 'c']) {
    source.tokens.set(key, grantOf(`tok_${key}`));
    await grants.token(key);
  }
  source.asked.length = 0;
  for (const key of ['b', 'c', 'a']) await grants.token(key);
  assert.deepEqual(source.asked, ['a']);
});

test('rethrows a bug in the directory without reporting an outage', async () => {
  const { grants, source, events } = setUp();
  source.bug = new TypeError('bug');
  await assert.rejects(grants.token('a'), TypeError);
  assert.deepEqual(events, []);
});

test('writes the last use of a token at most once a minute', async () => {
  const { grants, source, clock } = setUp();
  grants.touch('tok_a');
  grants.touch('tok_b');
  clock.ms += 59_999;
  grants.touch('tok_a');
  await grants.close();
  clock.ms += 1;
  grants.touch('tok_a');
  await grants.close();
  await grants.close();
  assert.deepEqual(source.used, [
    new Map([
      ['tok_a', start],
      ['tok_b', start],
    ]),
    new Map([['tok_a', start + 60_000]]),
  ]);
});

test('retries a failed write of last uses with the next one', async () => {
  const { grants, source, events } = setUp();
  source.away = true;
  grants.touch('tok_a');
  await grants.close();
  source.away = false;
  grants.touch('tok_b');
  await grants.close();
  assert.deepEqual(events, ['last use not written']);
  assert.deepEqual([...(source.used[0]?.keys() ?? [])].sort(), ['tok_a', 'tok_b']);
});

const start = 1_000_000;

function setUp(options: Partial<GrantsOptions> = {}) {
  const clock = { ms: start };
  const source = new FakeSource();
  const events: string[] = [];
  const telemetry: DirectoryEvents = {
    directoryFailed: () => events.push('failed'),
    directoryRecovered: () => events.push('recovered'),
    directoryAwaited: () => events.push('awaited'),
    directoryReached: () => events.push('reached'),
    sharedDirectoryOpened: () => assert.fail('grants open nothing'),
    lastUsedWriteFailed: () => events.push('last use not written'),
    changeFeedLost: () => assert.fail('grants do not listen'),
    changeFeedRestored: () => assert.fail('grants do not listen'),
    singleSignOnFailed: () => assert.fail('nobody signed in'),
    adminChanged: () => assert.fail('no change was made'),
    quarantineNotDropped: () => assert.fail('no change was made'),
  };
  const grants = createGrants(
    source,
    { staleForSeconds: 60, ...options },
    telemetry,
    () => clock.ms,
  );
  return { grants, source, clock, events };
}

class FakeSource implements GrantSource {
  readonly tokens = new Map<string, TokenGrant>();
  readonly asked: string[] = [];
  readonly used: ReadonlyMap<string, number>[] = [];
  away = false;
  bug: Error | undefined;
  #held: Promise<void> = Promise.resolve();

  /** Answers wait until the returned function is called, but were decided before. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return resolve;
  }

  async findToken(digest: string): Promise<TokenGrant | undefined> {
    this.asked.push(digest);
    this.#check();
    const answer = this.tokens.get(digest);
    await this.#held;
    return answer;
  }

  async findReceiver(): Promise<undefined> {
    this.#check();
  }

  async listStreams(): Promise<never[]> {
    this.#check();
    return [];
  }

  async noteTokensUsed(usedAtMs: ReadonlyMap<string, number>): Promise<void> {
    this.#check();
    this.used.push(usedAtMs);
  }

  #check(): void {
    if (this.bug) throw this.bug;
    if (this.away) throw new AppError('unavailable', 'cannot reach the directory');
  }
}

function grantOf(tokenId: string): TokenGrant {
  return {
    tokenId,
    type: 'access',
    accountIds: [],
    allAccounts: false,
    receiverId: null,
    scopes: new Set(),
    expiresAtMs: null,
    revoked: false,
  };
}

async function rejectsUnavailable(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => error instanceof AppError && error.code === 'unavailable');
}
