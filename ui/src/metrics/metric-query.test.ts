/** URL state of the metrics page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatMetricQuery,
  maxQueries,
  type MetricQuery,
  parseMetricQuery,
  type Span,
  spans,
  widen,
} from './metric-query.ts';

const relative = fc
  .constantFrom(...(Object.keys(spans) as Span[]))
  .map((span) => ({ kind: 'relative' as const, span }));
const absolute = fc
  .tuple(fc.nat(2 ** 40), fc.integer({ min: 1, max: 2 ** 30 }))
  .map(([fromMs, ms]) => ({ kind: 'absolute' as const, fromMs, untilMs: fromMs + ms }));
const queries: fc.Arbitrary<MetricQuery> = fc.record(
  {
    queries: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: maxQueries }),
    range: fc.oneof(relative, absolute),
    display: fc.constantFrom('lines', 'heat'),
    isZeroBased: fc.boolean(),
    related: fc.array(
      fc.record(
        { field: fc.stringMatching(/^[^:]+$/), value: fc.string({ unit: 'grapheme' }) },
        { noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
  },
  { noNullPrototype: true },
);

test('the URL carries the whole state', () => {
  fc.assert(
    fc.property(queries, (query) => {
      assert.deepEqual(parseMetricQuery(formatMetricQuery(query)), query);
    }),
  );
});

test('any URL parses', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (search) => {
      const { range } = parseMetricQuery(search);
      assert.ok(range.kind === 'relative' || range.fromMs < range.untilMs);
    }),
  );
  const backwards = '?from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z&range=constructor';
  assert.deepEqual(parseMetricQuery(backwards).range, { kind: 'relative', span: '1h' });
});

test('a link to a metric becomes its usual query', () => {
  const queriesOf = (search: string) => parseMetricQuery(search).queries;
  assert.deepEqual(queriesOf('?metric=level&label=site:north'), ['level{site="north"}']);
  assert.deepEqual(queriesOf('?metric=turns_total'), ['rate(turns_total[5m])']);
  assert.deepEqual(queriesOf('?metric=turns_total&mode=value'), ['turns_total']);
  assert.deepEqual(queriesOf('?metric=level&q=up'), ['up']);
});

test('zooming out grows both ends, but not beyond now', () => {
  const bounds = { fromMs: 1000, untilMs: 1100 };
  assert.deepEqual(widen(bounds, 2000), { kind: 'absolute', fromMs: 950, untilMs: 1150 });
  assert.deepEqual(widen(bounds, 1110), { kind: 'absolute', fromMs: 910, untilMs: 1110 });
  assert.deepEqual(widen(bounds, 500), { kind: 'absolute', fromMs: 900, untilMs: 1100 });
});
