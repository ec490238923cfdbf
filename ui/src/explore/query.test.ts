/** Page state and URL: round trip, and robustness against any URL. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  defaultQuery,
  type ExploreQuery,
  type Filter,
  filterFields,
  formatQuery,
  isFilterField,
  parseQuery,
  parseSpan,
  toApiFilters,
  withFilter,
  withoutFilter,
} from './query.ts';
import { resolveRange } from './range/range.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });
const time = fc
  .date({ min: new Date(0), max: new Date(Date.UTC(2148, 0)), noInvalidDate: true })
  .map((date) => date.toISOString());
const range = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 520 }), fc.constantFrom('s', 'm', 'h', 'd', 'w'))
    .map(([count, unit]) => ({ kind: 'relative' as const, span: `${count}${unit}` })),
  fc
    .tuple(time, time)
    .filter(([left, right]) => left !== right)
    .map((times) => times.toSorted())
    .map(([from, until]) => ({ kind: 'absolute' as const, from: from!, until: until! })),
);
const filter: fc.Arbitrary<Filter> = fc.record(
  {
    field: fc.oneof(
      fc.constantFrom(...filterFields),
      text.filter((key) => key !== '' && !key.includes(':')).map((key) => `label.${key}` as const),
    ),
    value: text,
    isExcluded: fc.boolean(),
  },
  { noNullPrototype: true },
);
const query: fc.Arbitrary<ExploreQuery> = fc
  .record(
    {
      range,
      search: text,
      filters: fc.array(filter, { maxLength: 8 }),
      columns: fc.uniqueArray(
        text.filter((name) => name !== ''),
        { maxLength: 6 },
      ),
      isWrapped: fc.boolean(),
      isLive: fc.boolean(),
      openLogId: fc.option(fc.uuid(), { nil: undefined }),
    },
    { noNullPrototype: true },
  )
  .map((made) =>
    made.filters.reduce(withFilter, { ...made, filters: [] as readonly Filter[] } as ExploreQuery),
  );

test('the URL carries the whole state', () => {
  fc.assert(
    fc.property(query, (state) => {
      assert.deepEqual(parseQuery(formatQuery(state)), state);
      assert.deepEqual(parseQuery(`?${formatQuery(state)}`), state);
    }),
  );
});

test('the default state has an empty query string', () => {
  assert.equal(formatQuery(defaultQuery), '');
  assert.deepEqual(parseQuery(''), defaultQuery);
});

test('any URL parses, and parsing is stable', () => {
  const word = fc.constantFrom(
    'range',
    'from',
    'until',
    'search',
    'severity',
    'label',
    'exclude',
    'excludeLabel',
    'column',
    'wrap',
    'live',
    'log',
    '=',
    '&',
    ':',
    '%',
    '%zz',
    '%00',
    '?',
    '#',
    '99999999999d',
    '0s',
    '-1h',
    '2026-01-01T00:00:00Z',
    'nonsense',
    '__proto__',
    'constructor',
    'label.',
    '\u202e',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(word, text), { maxLength: 30 }), (words) => {
      const state = parseQuery(words.join(''));
      assert.deepEqual(parseQuery(formatQuery(state)), state);
      resolveRange(state.range, 0, { fitting: 100, zone: 'utc' });
      toApiFilters(state);
    }),
  );
});

test('a URL of any length stays within the limits of the API', () => {
  const many = Array.from({ length: 500 }, (_, at) => `host=h${at}&column=c${at}`).join('&');
  const state = parseQuery(`search=${'x'.repeat(100_000)}&${many}&log=<script>`);
  assert.equal(state.search.length, 1000);
  assert.equal(state.filters.length, 100);
  assert.equal(state.columns.length, 20);
  assert.equal(state.openLogId, undefined);
});

test('an invalid range becomes the default', () => {
  for (const search of [
    'range=0m',
    'range=1y',
    'range=9999w',
    'from=2026-01-01T00:00:00Z',
    'from=x&until=y',
    'from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
    'from=1969-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
    'from=1&until=2',
  ]) {
    assert.deepEqual(parseQuery(search).range, defaultQuery.range, search);
  }
});

test('parses spans', () => {
  assert.equal(parseSpan('90m'), 5_400_000);
  assert.equal(parseSpan('2w'), 14 * 86_400_000);
  for (const wrong of ['', 'm', '1', '1.5h', '1 h', '-1h', '1y']) {
    assert.equal(parseSpan(wrong), undefined);
  }
});

test('converts filters to parameters of the API', () => {
  const state = parseQuery(
    'search=+a+&severity=ERROR&severity=WARN&host=&exclude=host:a:b&label=k:v:w&excludeLabel=x:',
  );
  assert.deepEqual(toApiFilters(state), {
    search: 'a',
    severity: ['ERROR', 'WARN'],
    host: [''],
    exclude: ['host:a:b'],
    label: ['k:v:w'],
    excludeLabel: ['x:'],
  });
  assert.deepEqual(toApiFilters(defaultQuery), {});
});

test('an inverted filter keeps its place; a label has one value', () => {
  const host = { field: 'host', value: 'a', isExcluded: false } as const;
  const other = { field: 'host', value: 'b', isExcluded: false } as const;
  const both = withFilter(withFilter(defaultQuery, host), other);
  assert.deepEqual(withFilter(both, { ...host, isExcluded: true }).filters, [
    { ...host, isExcluded: true },
    other,
  ]);
  assert.deepEqual(withoutFilter(both, { ...host, isExcluded: true }).filters, [other]);
  const eu = { field: 'label.region', value: 'eu', isExcluded: false } as const;
  const us = { ...eu, value: 'us' };
  assert.deepEqual(withFilter(withFilter(defaultQuery, eu), us).filters, [us]);
  const notUs = { ...us, isExcluded: true };
  assert.deepEqual(withFilter(withFilter(defaultQuery, eu), notUs).filters, [eu, notUs]);
});

test('knows which names and values can be filtered', () => {
  assert.ok(isFilterField('host'));
  assert.ok(isFilterField('label.a.b'));
  for (const field of ['message', 'label.', 'label.a:b', '']) {
    assert.ok(!isFilterField(field), field);
  }
});
