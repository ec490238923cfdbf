/** Every code that the service may give has words; the codes are the service's own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorTable } from '../../../src/model/errors.ts';
import { toAddress, toReasonWords } from './reason-words.ts';

test('every code of a refused request has words', () => {
  for (const code of Object.keys(errorTable)) {
    assert.notEqual(toReasonWords('request', code), code);
  }
});

test('a code from a later version stands for itself, and words of records stay', () => {
  assert.equal(toReasonWords('request', 'teapot'), 'teapot');
  assert.equal(toReasonWords('record', 'message is missing'), 'Message is missing');
});

test('an IPv4 address is shown as one', () => {
  assert.equal(toAddress('::ffff:127.0.0.1'), '127.0.0.1');
  assert.equal(toAddress('2001:db8::1'), '2001:db8::1');
  assert.equal(toAddress('::ffff:a'), '::ffff:a');
});
