/** Every error code of the service has a display text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestErrorCodes } from '../../../src/model/errors.ts';
import { toAddress, toReasonWords } from './reason-words.ts';

test('every code of a refused request has a text', () => {
  for (const code of ingestErrorCodes) {
    assert.notEqual(toReasonWords('request', code), code);
  }
});

test('unknown codes and reasons of records are shown unchanged', () => {
  assert.equal(toReasonWords('request', 'teapot'), 'teapot');
  assert.equal(toReasonWords('record', 'message is missing'), 'Message is missing');
});

test('shows a mapped IPv4 address as IPv4', () => {
  assert.equal(toAddress('::ffff:127.0.0.1'), '127.0.0.1');
  assert.equal(toAddress('2001:db8::1'), '2001:db8::1');
  assert.equal(toAddress('::ffff:a'), '::ffff:a');
});
