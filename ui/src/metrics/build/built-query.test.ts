/** The builder and the text of a query say the same. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  type BuiltQuery,
  calculations,
  combinations,
  filterOps,
  parseBuilt,
  plainQuery,
  printBuilt,
} from './built-query.ts';
import { syntaxFaultOf, toFault } from './query-fault.ts';

const name = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9_]{1,8}$/),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
);
const label = name.filter((one) => !['le', '__name__'].includes(one));
const queries: fc.Arbitrary<BuiltQuery> = fc
  .record({
    metric: fc.oneof(name, fc.constantFrom('up', 'request_seconds_bucket', 'sum', 'http.requests')),
    filters: fc.array(
      fc.record({
        name: label,
        op: fc.constantFrom(...filterOps),
        value: fc.string({ unit: 'grapheme' }),
      }),
      { maxLength: 3 },
    ),
    calculation: fc.constantFrom(...calculations),
    window: fc.constantFrom('1m', '5m', '1h'),
    quantile: fc.option(fc.constantFrom(0.5, 0.99), { nil: undefined }),
    combine: fc.option(fc.constantFrom(...combinations), { nil: undefined }),
    by: fc.uniqueArray(label, { maxLength: 3 }),
    top: fc.option(
      fc.record({
        order: fc.constantFrom('topk', 'bottomk'),
        count: fc.integer({ min: 1, max: 20 }),
      }),
      { nil: undefined },
    ),
  })
  .map((built) => ({
    ...built,
    window: built.calculation === 'value' ? plainQuery.window : built.window,
    by: built.combine === undefined ? [] : built.by,
  })) as fc.Arbitrary<BuiltQuery>;

suite('the builder', () => {
  test('reads back every query that it writes', () => {
    fc.assert(
      fc.property(queries, (built) => {
        const parsed = parseBuilt(printBuilt(built));
        assert.deepEqual(plain(parsed), plain(built));
      }),
    );
  });

  const said: readonly (readonly [string, Partial<BuiltQuery>])[] = [
    ['up', { metric: 'up' }],
    [' up { job = "api" } ', { metric: 'up', filters: [{ name: 'job', op: '=', value: 'api' }] }],
    ['rate(a_total[1h])', { metric: 'a_total', calculation: 'rate', window: '1h' }],
    [
      'histogram_quantile(0.95, sum by (le, job) (rate(a_bucket[5m])))',
      { metric: 'a_bucket', calculation: 'rate', quantile: 0.95, combine: 'sum', by: ['job'] },
    ],
    [
      'topk(10, sum(a) by (job))',
      { metric: 'a', combine: 'sum', by: ['job'], top: { order: 'topk', count: 10 } },
    ],
  ];
  for (const [text, built] of said) {
    test(`says ${text.trim()}`, () => {
      assert.deepEqual(plain(parseBuilt(text)), { ...plainQuery, ...built });
    });
  }

  const unsaid = [
    'a + b',
    'sum without (job) (a)',
    'a offset 5m',
    'a @ end()',
    'rate(a[5m:1m])',
    'avg_over_time(a[5m])',
    'histogram_quantile(0.9, sum by (job) (rate(a_bucket[5m])))',
    'topk(n, a)',
    '{job="a"}',
    'a{__name__="b"}',
    'sum(',
    '',
  ];
  for (const text of unsaid) {
    test(`leaves ${JSON.stringify(text)} as text`, () => {
      assert.equal(parseBuilt(text), undefined);
    });
  }
});

suite('a fault of a query', () => {
  test('has the place that the parser tells', () => {
    assert.equal(syntaxFaultOf('sum(up)'), undefined);
    assert.equal(syntaxFaultOf(''), undefined);
    const fault = syntaxFaultOf('sum(\n  up{job=}\n)');
    assert.equal(fault?.position, 'sum(\n  up{job='.length);
    assert.match(fault?.message ?? '', /expected string/);
  });

  test('of the service is the whole message where it has no place', () => {
    assert.deepEqual(toFault('up', new Error('query timed out')), {
      position: undefined,
      message: 'query timed out',
    });
  });
});

/** Without the prototypes of fast-check. */
function plain(value: unknown): unknown {
  return value === undefined
    ? undefined
    : { ...plainQuery, ...(JSON.parse(JSON.stringify(value)) as object) };
}
