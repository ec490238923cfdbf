/** What raises the alert of a query. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertExprOf } from './alert-expr.ts';

const cases: readonly (readonly [query: string, expr: string])[] = [
  ['up # all', 'up > 0'],
  ['rate(a[5m]) / b', '(rate(a[5m]) / b) > 0'],
  ['up == 0', 'up == 0'],
  ['a unless on (job) b', 'a unless on (job) b'],
];
for (const [query, expr] of cases) {
  test(query, () => assert.equal(alertExprOf(query), expr));
}
