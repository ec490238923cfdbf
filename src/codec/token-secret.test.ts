/** The format of secrets and ids, and the digest of a secret. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createId } from '../std/random-id.ts';
import { digestSecret, mintSecret } from './token-secret.ts';

test('a secret has the prefix of its type and 260 random bits', () => {
  assert.match(mintSecret('ingest'), /^wri_[a-z2-7]{52}$/);
  assert.match(mintSecret('access'), /^wra_[a-z2-7]{52}$/);
});

test('an id has 130 random bits', () => {
  assert.match(createId('rcv'), /^rcv_[a-z2-7]{26}$/);
});

test('secrets and ids do not repeat', () => {
  const seen = new Set(Array.from({ length: 1000 }, () => mintSecret('ingest')));
  for (let i = 0; i < 1000; i += 1) seen.add(createId('rcv'));
  assert.equal(seen.size, 2000);
});

test('the digest is the hex SHA-256 of the whole secret', () => {
  assert.equal(
    digestSecret('abc'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});
