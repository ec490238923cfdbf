/** Preferences of `Accept-Encoding` by weight, and codings that are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerCodings, preferredCoding } from './content-coding.ts';

const cases: readonly [
  accepted: string,
  coding: string | undefined,
  isIdentityRefused?: boolean,
][] = [
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['GZIP;Q=0.5', 'gzip'],
  ['zstd;q=0.2, gzip;q=0.9', 'gzip'],
  ['zstd;q=0, br;q=0.000, gzip', 'gzip'],
  ['gzip;q=1.0,deflate;q=0.6,identity;q=0.3', 'gzip'],
  ['identity, gzip', 'gzip'],
  ['identity, gzip;q=0.9', undefined],
  ['*', 'gzip'],
  ['*, gzip;q=0', undefined],
  ['gzip;q=0.5, *;q=0.8', undefined],
  ['', undefined],
  ['identity', undefined],
  ['deflate, compress, x-gzip', undefined],
  ['gzip;q=0', undefined],
  ['*;q=0', undefined, true],
  ['identity;q=0', undefined, true],
  ['identity;q=0, gzip', 'gzip', true],
  ['*;q=0, zstd', 'zstd', true],
  ['*;q=0, identity', undefined],
  ['gzip;q=2', undefined],
  ['gzip;q=-1, br;level=1', undefined],
  [',,;q=1,\t gzip ;q=0.1', 'gzip'],
];

for (const [accepted, coding, isIdentityRefused = false] of cases) {
  test(`prefers ${coding ?? 'no coding'} for "${accepted}"`, () => {
    const expected = { coding, isIdentityRefused };
    assert.deepEqual(preferredCoding(accepted, answerCodings), expected);
  });
}

test('a long header takes linear time', () => {
  const accepted = `${';q=1,'.repeat(3000)}gzip`;
  assert.equal(preferredCoding(accepted, answerCodings).coding, 'gzip');
});
