/** The token of a request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestHeaders } from '../model/request.ts';
import { bearerToken } from './authenticate.ts';

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

function tokenOf(authorization: readonly string[], takesBasic?: boolean): string {
  const headers = { authorization } as Pick<RequestHeaders, 'authorization'> as RequestHeaders;
  return bearerToken(headers, takesBasic);
}

test('is the bearer token', () => {
  assert.equal(tokenOf(['Bearer wri_a']), 'wri_a');
  assert.equal(tokenOf(['bearer wri_a'], true), 'wri_a');
});

test('is the password of Basic where that is taken', () => {
  assert.equal(tokenOf([basic('any:wri_a')], true), 'wri_a');
  assert.equal(tokenOf([basic(':wri_a')], true), 'wri_a');
  assert.throws(() => tokenOf([basic('any:wri_a')]), /send "Bearer" and one token$/);
});

for (const value of ['Basic', 'Basic !', basic('any:'), basic('any:a b'), basic('any:a:b'), '']) {
  test(`refuses ${JSON.stringify(value)}`, () => {
    assert.throws(() => tokenOf([value], true), {
      code: 'unauthenticated',
      message: /or "Basic" with the token as password/,
    });
  });
}

test('refuses two', () => {
  assert.throws(() => tokenOf(['Bearer a', basic('any:a')], true), { code: 'unauthenticated' });
});
