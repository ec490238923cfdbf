/** Accepted content types and codings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../model/errors.ts';
import type { Protocol } from '../model/protocol.ts';
import type { RequestHeaders } from '../model/request.ts';
import { bodyFormat } from './body-format.ts';

const protocol = {
  mediaTypes: [
    { name: 'application/json' },
    { name: 'text/plain', parameters: { version: ['0.0.4', '1.0.0'] } },
  ],
  codings: ['identity', 'gzip'],
} as unknown as Protocol;

function formatOf(contentType: readonly string[], contentEncoding: readonly string[] = []) {
  return bodyFormat({ contentType, contentEncoding } as unknown as RequestHeaders, protocol);
}

const isUnsupported = (error: unknown) =>
  error instanceof AppError && error.code === 'unsupported_media';

test('accepts', () => {
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=utf8',
    'application/json; charset=US-ASCII',
    'application/json ; charset="UTF-8"',
    'application/json\t; charset=utf-8;',
  ]) {
    assert.equal(formatOf([type]).mediaType, 'application/json', type);
  }
  const text = formatOf(['text/plain; version=0.0.4; charset=utf-8']);
  assert.deepEqual([...text.parameters], [['version', '0.0.4']]);
  assert.equal(formatOf(['application/json'], ['GZIP']).coding, 'gzip');
  assert.equal(formatOf(['application/json'], ['X-GZIP']).coding, 'gzip');
  assert.equal(formatOf(['application/json'], ['identity']).coding, 'identity');
});

test('refuses', () => {
  for (const types of [
    [],
    [''],
    ['application/json', 'application/json'],
    ['application/json, application/json'],
    ['application/jsonp'],
    ['application/json; charset=utf-16'],
    ['application/json; charset=utf-8; charset=utf-8'],
    ['application/json; charset'],
    ['application/json; version=0.0.4'],
    ['application/json; __proto__=x'],
    ['text/plain; version=2'],
    ['application/json charset=utf-8'],
    ['json'],
  ]) {
    assert.throws(() => formatOf(types), isUnsupported, JSON.stringify(types));
  }
  for (const codings of [[''], ['br'], ['gzip, gzip'], ['gzip', 'gzip'], ['identity, gzip']]) {
    assert.throws(() => formatOf(['application/json'], codings), isUnsupported, String(codings));
  }
});

test('accepts or refuses any text without other errors', () => {
  const part = fc.constantFrom(
    'application/json',
    ';',
    'charset',
    '=',
    '"',
    'utf-8',
    ' ',
    '\\',
    ',',
  );
  const type = fc.oneof(
    fc.string(),
    fc.array(part).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(type, (text) => {
      try {
        formatOf([text]);
      } catch (error) {
        assert.ok(isUnsupported(error));
      }
    }),
  );
});
