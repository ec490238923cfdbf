/** Page state and URL: round trip, and robustness against any URL. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  defaultQuery,
  type ExploreQuery,
  formatQuery,
  parseQuery,
  parseSpan,
  toApiFilters,
  withPart,
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
const query: fc.Arbitrary<ExploreQuery> = fc.record(
  {
    tab: fc.constantFrom('logs', 'patterns', 'compare', 'stats'),
    baseline: fc.constantFrom('before', 'day', 'week', 'others'),
    stats: fc.record(
      {
        stat: fc.constantFrom('count', 'p95(label.a b)'),
        by: fc.constantFrom('', 'host', 'label.a,b'),
        step: fc.constantFrom('', '5m'),
      },
      { noNullPrototype: true },
    ),
    range,
    text: text.map((written) => written.toWellFormed().trim()),
    groupBy: fc.oneof(fc.constantFrom('severity', 'host', 'scope'), fc.constant('label.a b')),
    columns: fc.uniqueArray(
      text.filter((name) => name !== ''),
      { maxLength: 6 },
    ),
    isWrapped: fc.boolean(),
    isOldestFirst: fc.boolean(),
    sort: fc.option(
      fc.record(
        { column: fc.constantFrom('host', 'label.-a b'), isDescending: fc.boolean() },
        { noNullPrototype: true },
      ),
      { nil: undefined },
    ),
    isLive: fc.boolean(),
    openLogId: fc.option(fc.uuid(), { nil: undefined }),
  },
  { noNullPrototype: true },
);

test('the URL carries the whole state', () => {
  fc.assert(
    fc.property(query, (state) => {
      const kept = withPart(state, {});
      assert.deepEqual(parseQuery(formatQuery(kept)), kept);
      assert.deepEqual(parseQuery(`?${formatQuery(kept)}`), kept);
    }),
  );
});

test('a new query or range closes the open log, a change of the display does not', () => {
  const openLogId = '01a22314-a22b-7000-8009-a4ff0fe3f177';
  const state = { ...defaultQuery, openLogId };
  assert.equal(withPart(state, { text: 'a', tab: 'logs' }).openLogId, undefined);
  const lastDay = { kind: 'relative', span: '1d' } as const;
  assert.equal(withPart(state, { range: lastDay }).openLogId, undefined);
  assert.equal(withPart(state, { isWrapped: true, tab: 'patterns' }).openLogId, openLogId);
});

test('live mode and the oldest first exclude each other: the last choice counts', () => {
  const live = withPart({ ...defaultQuery, isOldestFirst: true }, { isLive: true });
  assert.deepEqual([live.isLive, live.isOldestFirst], [true, false]);
  const oldest = withPart(live, { isOldestFirst: true });
  assert.deepEqual([oldest.isLive, oldest.isOldestFirst], [false, true]);
  assert.equal(parseQuery('live=1&order=asc').isLive, false);
});

test('live mode and a sorted list exclude each other', () => {
  const sort = { column: 'host', isDescending: true };
  const live = withPart({ ...defaultQuery, sort }, { isLive: true });
  assert.deepEqual([live.isLive, live.sort], [true, undefined]);
  assert.equal(withPart(live, { sort }).isLive, false);
  assert.deepEqual(parseQuery('live=1&sort=-host'), { ...defaultQuery, sort });
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
    'query',
    'severity',
    'label',
    'exclude',
    'excludeLabel',
    'column',
    'group',
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
  const many = Array.from({ length: 500 }, (_, at) => `column=c${at}`).join('&');
  const state = parseQuery(`query=${'x'.repeat(100_000)}&${many}&log=<script>`);
  assert.equal(state.text.length, 4000);
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

test('reads the filters of older links as one query', () => {
  const cases = {
    'search=+a+-"b+c"+d-e': 'a -"b c" d-e',
    'search=("x")+"say+\\"no\\""+C:\\t': '"(\\"x\\")" "say \\"no\\"" "C:\\\\t"',
    'severity=ERROR&severity=WARN&host=': 'severity:(ERROR OR WARN) host:""',
    'exclude=host:a:b&exclude=host:c': '-host:("a:b" OR c)',
    'label=k:v:w&label=k:x&excludeLabel=x:': 'k:v:w k:x -x:""',
    'label=host:a&serviceName=b': 'label.host:a service:b',
    'query=a+OR+b&severity=ERROR': '(a OR b) severity:ERROR',
    'exclude=nothing:a&label=:&label=x&other=y': '',
  };
  for (const [search, expected] of Object.entries(cases)) {
    assert.equal(parseQuery(search).text, expected, search);
  }
});

test('converts the query to parameters of the API', () => {
  assert.deepEqual(toApiFilters(parseQuery('query=+a:b+')), { query: 'a:b' });
  assert.deepEqual(toApiFilters(defaultQuery), {});
});
