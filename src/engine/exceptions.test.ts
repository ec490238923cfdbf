/** Errors look on the wire as ClickHouse clients expect them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineException, exceptionBlock, toWireException } from './exceptions.ts';

test('an error of the engine has code, name and status', () => {
  const wire = toWireException(new EngineException(202, 'cannot queue'));
  const text = 'Code: 202. DB::Exception: cannot queue. (TOO_MANY_SIMULTANEOUS_QUERIES)';
  assert.deepEqual(wire, { code: 202, httpStatus: 503, text });
});

test('an error of chDB keeps its text', () => {
  const text = 'Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)';
  assert.deepEqual(toWireException(new Error(`${text}\n`)), { code: 60, httpStatus: 404, text });
});

test('anything else is unknown', () => {
  assert.equal(toWireException('boom').code, 1002);
  assert.equal(toWireException(new Error('see Code: 60.')).code, 1002);
});

test('the block at the end of a stream counts bytes and its line feed', () => {
  const block = exceptionBlock({ code: 1, httpStatus: 500, text: 'é' }, 'TAG');
  assert.equal(block, '\r\n__exception__\r\nTAG\r\né\n3 TAG\r\n__exception__\r\n');
});
