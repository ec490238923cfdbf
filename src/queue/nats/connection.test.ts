/** Addresses of NATS servers that operators may write. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseNatsUrl } from './connection.ts';

suite('addresses', () => {
  for (const [text, server, isTls, user, password] of [
    ['nats://one', 'nats://one:4222', false, '', ''],
    ['nats://one:5000/', 'nats://one:5000', false, '', ''],
    ['tls://10.0.0.1', 'tls://10.0.0.1:4222', true, '', ''],
    ['nats://[::1]:4300', 'nats://[::1]:4300', false, '', ''],
    ['nats://weir@one', 'nats://one:4222', false, 'weir', ''],
    ['nats://weir:p%40ss%3A1@one', 'nats://one:4222', false, 'weir', 'p@ss:1'],
  ] as const) {
    test(text, () => assert.deepEqual(parseNatsUrl(text), { server, isTls, user, password }));
  }
});

suite('refused addresses', () => {
  for (const text of [
    '',
    'one:4222',
    'http://one',
    'nats://',
    'nats://one/path',
    'nats://one?tls=true',
    'ws://one',
  ]) {
    test(JSON.stringify(text), () => {
      assert.throws(() => parseNatsUrl(text), /give queue\.urls as nats:\/\/host:4222/);
    });
  }

  test('the error does not contain the password', () => {
    assert.throws(
      () => parseNatsUrl('nats://weir:secret@one/path'),
      (error: Error) => !error.message.includes('secret') && error.message.includes('one/path'),
    );
  });
});
