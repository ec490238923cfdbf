/** Redaction: what is recognised, what is left alone, and linear time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCustomRedaction, createRedaction } from './redact.ts';

const card = createRedaction('card', '[redacted]');
const email = createRedaction('email', '[redacted]');
const token = createRedaction('token', '[redacted]');

const cases: readonly [redact: typeof card, text: string, expected: string][] = [
  [card, 'paid with 4111 1111 1111 1111 today', 'paid with [redacted] today'],
  [card, '5500-0000-0000-0004,378282246310005', '[redacted],[redacted]'],
  [card, 'order 4111111111111112', 'order 4111111111111112'],
  [card, 'at 1795341600 in 20260102030405', 'at 1795341600 in 20260102030405'],
  [card, '12 4111 1111 1111 1111 77', '12 [redacted] 77'],
  [email, 'from ann.b+x@mail.example.com to @bob', 'from [redacted] to @bob'],
  [email, 'git@localhost and a@b', 'git@localhost and a@b'],
  [email, '@b.co@c.de,d@e.fr@g.hi', '@[redacted],[redacted]@g.hi'],
  [email, `${'x'.repeat(70)}@mail.example.com`, `${'x'.repeat(6)}[redacted]`],
  [token, 'Authorization: Bearer abc.def-123456', 'Authorization: Bearer [redacted]'],
  [token, 'key AKIAIOSFODNN7EXAMPLE used', 'key [redacted] used'],
  [token, 'password=hunter22&user=ann', 'password=[redacted]&user=ann'],
  [token, '{"api_key": "abcdef123456"}', '{"api_key": "[redacted]"}'],
  [token, 'jwt eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM', 'jwt [redacted]'],
  [token, `wri_${'a'.repeat(30)}`, '[redacted]'],
  [token, 'tokens are fine, secretary too', 'tokens are fine, secretary too'],
];

for (const [redact, text, expected] of cases) {
  test(`${text} becomes ${expected}`, () => assert.equal(redact(text, undefined), expected));
}

test('replaces the value of a label whose name says that it is secret', () => {
  assert.equal(token('x', 'http.authorization'), '[redacted]');
  assert.equal(token('x', 'http.method'), 'x');
});

test('replaces a private key to its end, or to the end of the text', () => {
  const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----';
  assert.equal(token(`a ${key} b`, undefined), 'a [redacted] b');
  assert.equal(token(`a ${key.slice(0, 40)}`, undefined), 'a [redacted]');
});

test('a custom pattern fails closed: what it does not search is replaced', () => {
  const redact = createCustomRedaction('user-\\d+', '$1');
  assert.equal(redact('user-12 user-x', undefined), '$1 user-x');
  const long = redact(`${'x'.repeat(70_000)} user-12`, undefined);
  assert.equal(long, `${'x'.repeat(65_536)}$1`);
});

test('what follows two million characters is replaced, whatever they are', () => {
  const long = 3_000_000;
  for (const redact of [card, email, token]) {
    assert.equal(redact('x '.repeat(long), undefined), `${'x '.repeat(2 ** 20)}[redacted]`);
  }
  assert.equal(
    token(`password=${'a'.repeat(3 * long)}`, undefined),
    'password=[redacted][redacted]',
  );
  assert.equal(card('1'.repeat(3 * long), undefined).length, 2 ** 21 + '[redacted]'.length);
});

const hostile = {
  digits: '1 '.repeat(500_000),
  cards: '4111 1111 1111 1112 '.repeat(50_000),
  emails: `${'a'.repeat(1_000_000)}@`,
  domains: `a@${'a.'.repeat(500_000)}`,
  tokens: 'eyJ-'.repeat(250_000),
  jwts: 'eyJaaaaaaaa.'.repeat(80_000),
  keys: '-----BEGIN PRIVATE KEY-----'.repeat(40_000),
  names: 'token='.repeat(160_000),
  numbers: '5 3 '.repeat(250_000),
  'a word beside an address': `a@b.co ${'a'.repeat(1_000_000)}`,
};

for (const [name, text] of Object.entries(hostile)) {
  test(`needs time linear in ${name}`, () => {
    const cost = (input: string) => {
      const startedAt = process.cpuUsage();
      for (const redact of [card, email, token]) redact(input, undefined);
      return process.cpuUsage(startedAt).user / 1e6;
    };
    // Otherwise other requests wait; quadratic time would be hours.
    const seconds = cost(text);
    assert.ok(seconds < 0.5, `it took ${seconds} s`);
  });
}
