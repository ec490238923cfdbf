/** What an operator may write as an address of NATS, and what not. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseNatsUrl } from './nats-address.ts';

suite('addresses', () => {
  for (const [text, server, isTls, user, password] of [
    ['nats://one', 'nats://one:4222', false, undefined, undefined],
    ['nats://one:5000/', 'nats://one:5000', false, undefined, undefined],
    ['tls://10.0.0.1', 'tls://10.0.0.1:4222', true, undefined, undefined],
    ['nats://[::1]:4300', 'nats://[::1]:4300', false, undefined, undefined],
    ['nats://weir@one', 'nats://one:4222', false, 'weir', undefined],
    ['nats://weir:p%40ss%3A1@one', 'nats://one:4222', false, 'weir', 'p@ss:1'],
  ] as const) {
    test(text, () => assert.deepEqual(parseNatsUrl(text), { server, isTls, user, password }));
  }
});

suite('what is none', () => {
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

  test('its password is not told', () => {
    assert.throws(
      () => parseNatsUrl('nats://weir:secret@one/path'),
      (error: Error) => !error.message.includes('secret') && error.message.includes('one/path'),
    );
  });
});
