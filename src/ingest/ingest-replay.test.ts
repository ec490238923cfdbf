/** The limit on requests with an Idempotency-Key in flight. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { createClaims, type HeldClaim } from './ingest-replay.ts';

test('limits the keys in flight of one account, so that others have room', async () => {
  const claims = createClaims({ recall: async () => undefined });
  const claim = (account: string) => claims.claim(account, randomBytes(16), randomBytes(16));
  const held: HeldClaim[] = [];
  await assert.rejects(
    async () => {
      for (;;) held.push(await claim('a'));
    },
    (error) => error instanceof AppError && /has 5000 of 10000 in flight/.test(error.message),
  );
  (await claim('b')).settle();
  held.pop()!.settle();
  (await claim('a')).settle();
});
