/** State of tokens, and input of expiries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortTokens, toExpiry, toTokenState } from './token-state.ts';

const nowMs = Date.parse('2026-05-01T00:00:00.000Z');
const past = '2026-04-01T00:00:00.000Z';
const future = '2026-06-01T00:00:00.000Z';

test('a token is active until it is revoked or expires', () => {
  assert.equal(toTokenState({ revokedAt: null, expiresAt: null }, nowMs), 'active');
  assert.equal(toTokenState({ revokedAt: null, expiresAt: future }, nowMs), 'active');
  assert.equal(toTokenState({ revokedAt: null, expiresAt: past }, nowMs), 'expired');
  assert.equal(toTokenState({ revokedAt: past, expiresAt: future }, nowMs), 'revoked');
});

test('sorts active tokens first, newest first', () => {
  const old = { revokedAt: null, expiresAt: null, createdAt: past };
  const young = { ...old, createdAt: future };
  const revoked = { ...young, revokedAt: future };
  assert.deepEqual(sortTokens([revoked, old, young], nowMs), [young, old, revoked]);
});

test('parses an expiry as a number of days, or never', () => {
  assert.equal(toExpiry('', nowMs), null);
  assert.equal(toExpiry(' 1 ', nowMs), '2026-05-02T00:00:00.000Z');
  for (const wrong of ['0', '-1', '1.5', 'soon', '999999']) {
    assert.equal(toExpiry(wrong, nowMs), undefined, wrong);
  }
});
