/** A query is planned as the other parameters are, where they can say it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { AppError } from '../model/errors.ts';
import type { LogFilter } from '../model/plan.ts';
import { parseQuery } from '../std/parse-query.ts';
import { toFilter } from './plan.ts';
import { listQuery } from './requests.ts';

const ids = [
  '0b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10',
  '1b9f6a3e-3c5d-4a51-9a3a-6e3b1c0a7f10',
] as const;
const streams = ids.map((streamId, i) => ({
  streamId,
  accountId: 'acme',
  name: ['main', 'audit log'][i]!,
  retentionDays: 30,
  downsampling: null,
  dataDeletedUntil: null,
  createdAt: '',
}));
const context = { accountId: 'acme', streams, nowMs: Date.parse('2026-04-01T00:00:00Z') };

function filterOf(parameters: Readonly<Record<string, string | readonly string[]>>): LogFilter {
  const search = new URLSearchParams();
  for (const [name, values] of Object.entries(parameters)) {
    for (const value of [values].flat()) search.append(name, value);
  }
  return toFilter(context, parseQuery(listQuery, search));
}

suite('equals the plan of the parameters', () => {
  const cases: readonly (readonly [string, Parameters<typeof filterOf>[0]])[] = [
    ['', {}],
    ['service:checkout host:web-1', { serviceName: 'checkout', host: 'web-1' }],
    ['host:(a OR b OR a)', { host: ['a', 'b'] }],
    ['host:a OR host:b', { host: ['a', 'b'] }],
    ['severity:err', { severity: 'err' }],
    ['severity>=error', { minSeverity: 'error' }],
    ['level>=warn level>=error', { minSeverity: 'error' }],
    ['severity>error', { minSeverity: 'fatal' }],
    ['severity>crit', { minSeverity: '19' }],
    ['severity>17', { minSeverity: '18' }],
    ['timeout "connection reset" -retry', { search: 'timeout "connection reset" -retry' }],
    ['message:timeout', { search: 'timeout' }],
    ['region:eu-west label.host:x', { label: ['region:eu-west', 'host:x'] }],
    ['-host:a -host:b -region:eu', { exclude: ['host:a', 'host:b'], excludeLabel: 'region:eu' }],
    ['-(host:a OR region:eu)', { exclude: 'host:a', excludeLabel: 'region:eu' }],
    ['trace:4BF92F3577B34DA6A3CE929D0E0E4736', { traceId: '4BF92F3577B34DA6A3CE929D0E0E4736' }],
    ['stream:"audit log"', { streamId: ids[1] }],
    [`stream:${ids[0]}`, { streamId: ids[0] }],
    ['-stream:main', { exclude: `streamId:${ids[0]}` }],
  ];
  for (const [query, parameters] of cases) {
    test(query, () => assert.deepEqual(filterOf({ query }), filterOf(parameters)));
  }
});

suite('patterns of the names of streams', () => {
  const names = ['main', 'audit log', 'a'.repeat(100), 'aXa'];
  const cases: readonly (readonly [pattern: string, names: readonly number[]])[] = [
    ['a*', [1, 2, 3]],
    ['*a', [2, 3]],
    ['*i*', [0, 1]],
    ['au*log', [1]],
    ['aXa*a', []],
    ['a*X*a', [3]],
    ['a*a', [2, 3]],
    ['m*n*n', []],
    [`${'*a'.repeat(50)}*b`, []],
    [`${'*a'.repeat(50)}*`, [2]],
  ];
  for (const [pattern, wanted] of cases) {
    test(pattern.slice(0, 20), () => {
      const named = names.map((name, i) => ({ ...streams[0]!, streamId: `${i}`, name }));
      const query = parseQuery(listQuery, new URLSearchParams({ query: `stream:${pattern}` }));
      const found = toFilter({ ...context, streams: named }, query).streams;
      assert.deepEqual(
        found.map(({ streamId }) => Number(streamId)),
        wanted,
      );
    });
  }
});

test('both are combined', () => {
  const { equal, search, conditions } = filterOf({
    query: 'service:b timeout',
    serviceName: 'a',
    search: 'retry',
  });
  assert.deepEqual([...equal], [['serviceName', ['a']]]);
  assert.deepEqual(conditions, [{ kind: 'equal', field: 'serviceName', values: ['b'] }]);
  assert.deepEqual(
    search.map(({ text }) => text),
    ['retry', 'timeout'],
  );
});

test('alternatives that all name a service limit the read to these services', () => {
  const { equal, conditions } = filterOf({
    query: '(service:a timeout) OR (service:b status:>=500) OR service:a',
  });
  assert.deepEqual([...equal], [['serviceName', ['a', 'b']]]);
  assert.equal(conditions?.length, 1);
  assert.equal(filterOf({ query: '(service:a x) OR y' }).equal.size, 0);
});

test('refuses a query with its position, and what RE2 cannot read', () => {
  const refusals = [
    ['a host:', /^cannot read query at position 8: expected a value after host:/],
    ['a /(?=b)/', /^cannot read query at position 3: expected a regular expression of RE2: /],
    ['/a{1001}/', /RE2/],
  ] as const;
  for (const [query, message] of refusals) {
    assert.throws(
      () => filterOf({ query }),
      (error) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.code, 'malformed');
        assert.equal(error.parameter, 'query');
        assert.match(error.message, message);
        return true;
      },
    );
  }
});
