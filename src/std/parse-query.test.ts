/** The decoder of query strings and forms beside that of the platform. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../test/harness/random.ts';
import { parseParameters } from './parse-query.ts';

/** As a server gets them: without a lone surrogate, and without the `?` of a URL. */
const texts = [
  '',
  '&&',
  '=',
  'a',
  'a=',
  '=b',
  'a=b',
  'a=b=c&a=d',
  'a+b=c+d&e%2Bf=g%20h',
  '%61%3D%26=%25',
  'query=up%7Bjob%3D%22%C3%A9%F0%9F%98%80%22%7D&time=1',
  'caf\u00e9=\ud83d\ude00',
  'a=%&b=%2&c=%zz&d=%c3%28&e=+%ff+',
  'a=%EF%BB%BFb',
];

for (const text of texts) {
  test(`decodes ${JSON.stringify(text)} as URLSearchParams does`, () => {
    assert.deepEqual(parseParameters(text), [...new URLSearchParams(text)]);
  });
}

test('decodes random texts as URLSearchParams does', () => {
  const random = createRandom(1);
  const parts = [
    'a',
    'Z',
    '=',
    '&',
    '+',
    '%',
    '%2',
    '%41',
    '%c3%a9',
    '%ff',
    '%26',
    '\u00e9',
    ' ',
  ] as const;
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: random.integer(0, 12) }, () => random.pick(parts)).join('');
    assert.deepEqual(parseParameters(text), [...new URLSearchParams(text)], text);
  }
});
