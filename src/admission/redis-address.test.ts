/** Redis URLs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRedisUrl } from './redis-connection.ts';

const plain = {
  host: 'host',
  port: 6379,
  isTls: false,
  database: 0,
  user: undefined,
  password: undefined,
};

for (const [text, expected] of [
  ['redis://host', plain],
  ['redis://host/', plain],
  ['redis://host:7000/3', { ...plain, port: 7000, database: 3 }],
  ['rediss://host', { ...plain, isTls: true }],
  ['redis://[::1]:1', { ...plain, host: '::1', port: 1 }],
  ['redis://me:p%40ss%2F@host', { ...plain, user: 'me', password: 'p@ss/' }],
  ['redis://:word@host', { ...plain, password: 'word' }],
  ['redis://:100%@host', { ...plain, password: '100%' }],
] as const) {
  test(`accepts ${text}`, () => assert.deepEqual(parseRedisUrl(text), expected));
}

for (const text of [
  '',
  'host:6379',
  'http://host',
  'redis://',
  'redis://host/name',
  'redis://h:x',
]) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseRedisUrl(text), /cannot use the address .* quota\.urls/);
  });
}

test('does not show the password in the error', () => {
  for (const text of ['redis://me:secret@host/name', 'redis:///me:secret@h', 'me:secret@host']) {
    assert.throws(
      () => parseRedisUrl(text),
      (error: Error) => !error.message.includes('secret'),
    );
  }
});
