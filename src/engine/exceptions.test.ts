/** Errors in the format that ClickHouse clients expect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineException, exceptionBlock, toWireException } from './exceptions.ts';

test('an EngineException has code, name and HTTP status', () => {
  const wire = toWireException(new EngineException(202, 'cannot queue'));
  const text = 'Code: 202. DB::Exception: cannot queue. (TOO_MANY_SIMULTANEOUS_QUERIES)';
  assert.deepEqual(wire, { code: 202, httpStatus: 503, text });
});

test('an error of chDB keeps its text', () => {
  const text = 'Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)';
  assert.deepEqual(toWireException(new Error(`${text}\n`)), { code: 60, httpStatus: 404, text });
});

test('any other error has the unknown code', () => {
  assert.equal(toWireException('boom').code, 1002);
  assert.equal(toWireException(new Error('see Code: 60.')).code, 1002);
});

test('the exception block at the end of a stream counts its bytes and line feed', () => {
  const block = exceptionBlock({ code: 1, httpStatus: 500, text: 'é' }, 'TAG');
  assert.equal(block, '\r\n__exception__\r\nTAG\r\né\n3 TAG\r\n__exception__\r\n');
});
