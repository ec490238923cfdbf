/** Filters as conditions; no value becomes part of the SQL. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LogCondition, LogFilter, LogTest } from '../../model/plan.ts';
import { Parameters } from './statement.ts';
import { whereSql } from './where.ts';

const nothing: LogFilter = {
  accountId: 'account',
  streams: [{ streamId: 'stream', receivedFromNanos: 0n }],
  fromNanos: undefined,
  untilNanos: undefined,
  equal: new Map(),
  labels: [],
  search: [],
};

/** The conditions after account and stream, and all values in the order of their placeholders. */
function compiled(change: Partial<LogFilter>): { conditions: string[]; values: unknown[] } {
  const params = new Parameters();
  const conditions = whereSql({ ...nothing, ...change }, params).split('\n  AND ');
  assert.equal(
    conditions[0],
    'AccountId = {p0:String}',
    'the condition on the account must be first',
  );
  return { conditions: conditions.slice(1), values: Object.values(params.values) };
}

suite('conditions of a filter', () => {
  test('one stream, with and without a limit of receipt', () => {
    assert.deepEqual(compiled({}), {
      conditions: ['StreamId = {p1:String}'],
      values: ['account', 'stream'],
    });
    assert.deepEqual(compiled({ streams: [{ streamId: 's', receivedFromNanos: 7n }] }), {
      conditions: [
        'StreamId = {p1:String}',
        "ReceivedAt >= fromUnixTimestamp64Nano({p2:Int64}, 'UTC')",
      ],
      values: ['account', 's', '7'],
    });
  });

  test('streams with different limits have a condition each', () => {
    const streams = [
      { streamId: 'a', receivedFromNanos: 1n },
      { streamId: 'b', receivedFromNanos: 2n },
      { streamId: 'c', receivedFromNanos: 1n },
    ];
    const received = (place: string) =>
      `ReceivedAt >= fromUnixTimestamp64Nano({${place}:Int64}, 'UTC')`;
    assert.deepEqual(compiled({ streams }).conditions, [
      'StreamId IN {p5:Array(String)}',
      `((StreamId IN {p1:Array(String)} AND ${received('p2')})` +
        ` OR (StreamId = {p3:String} AND ${received('p4')}))`,
    ]);
  });

  test('exclusions negate the same conditions', () => {
    const equal = new Map([['severity', ['debug', 'trace']] as const, ['host', ['']] as const]);
    const labels = [{ key: 'tier', value: '' }];
    assert.deepEqual(compiled({ excluded: { equal, labels } }), {
      conditions: [
        'StreamId = {p1:String}',
        'NOT (SeverityNumber IN {p2:Array(Int64)})',
        'NOT (Host = {p3:String})',
        'NOT (if(mapContains(LogAttributes, {p4:String}), LogAttributes[{p4:String}],' +
          ' ResourceAttributes[{p4:String}]) = {p5:String})',
      ],
      values: ['account', 'stream', [5, 6, 7, 8, 1, 2, 3, 4], '', 'tier', ''],
    });
  });

  test('no stream matches nothing', () => {
    assert.deepEqual(compiled({ streams: [] }).conditions, ['0']);
  });

  test('compares severity by level, ids in lower case, other fields unchanged', () => {
    const equal = new Map([
      ['severity', ['err', 'Error', 'critical']],
      ['spanId', ['00F067AA0BA902B7']],
      ['host', ['Host-1']],
    ] as const);
    assert.deepEqual(compiled({ equal }), {
      conditions: [
        'StreamId = {p1:String}',
        'SeverityNumber IN {p2:Array(Int64)}',
        'SpanId = {p3:String}',
        'Host = {p4:String}',
      ],
      values: ['account', 'stream', [17, 18, 19, 20], '00f067aa0ba902b7', 'Host-1'],
    });
  });

  test('compares a severity without a number by its word', () => {
    const { conditions, values } = compiled({ equal: new Map([['severity', ['audit', 'info']]]) });
    assert.equal(
      conditions[1],
      'if(SeverityNumber IN {p2:Array(Int64)}, 1, SeverityText = {p3:String})',
    );
    assert.deepEqual(values.slice(2), [[9, 10, 11, 12], 'AUDIT']);
    assert.deepEqual(compiled({ minSeverity: 13 }).conditions[1], 'SeverityNumber >= {p2:UInt16}');
  });

  test('a label is not looked for in attributes of resources that no log has', () => {
    const params = new Parameters();
    const filter = { ...nothing, labels: [{ key: 'k', value: 'v' }] };
    const sql = whereSql(filter, params, { unused: new Set(['ResourceAttributes']) });
    assert.equal(sql.split('\n  AND ').at(-1), 'LogAttributes[{p3:String}] = {p4:String}');
  });

  test('an empty label value is looked for without the index, which has no absent keys', () => {
    const { conditions } = compiled({ labels: [{ key: 'k', value: '' }] });
    assert.match(conditions.at(-1)!, /^if\(mapContains\(LogAttributes, \{p2:String\}\)/);
    assert.match(
      compiled({ labels: [{ key: 'k', value: 'v' }] }).conditions[1]!,
      /^indexHint\(has\(/,
    );
  });
});

suite('search terms', () => {
  const cases: readonly (readonly [text: string, condition: string, value: string])[] = [
    ['TimeOut', 'lower(Body) LIKE {p2:String}', '%timeout%'],
    ['漢字 A', 'lower(Body) LIKE {p2:String}', '%漢字 a%'],
    ['50%_\\', 'lower(Body) LIKE {p2:String}', '%50\\%\\_\\\\%'],
    ['Größe', 'lowerUTF8(Body) LIKE lowerUTF8({p2:String})', '%Größe%'],
    [
      'ΟΔΟΣ',
      "replaceAll(lowerUTF8(Body), 'ς', 'σ') LIKE replaceAll(lowerUTF8({p2:String}), 'ς', 'σ')",
      '%ΟΔΟΣ%',
    ],
  ];
  for (const [text, condition, value] of cases) {
    test(text, () => {
      const { conditions, values } = compiled({ search: [{ text, exclude: false }] });
      assert.deepEqual([conditions.at(-1), values.at(-1)], [condition, value]);
      const excluded = compiled({ search: [{ text, exclude: true }] });
      assert.equal(excluded.conditions.at(-1), `NOT (${condition})`);
    });
  }
});

/** Every kind of condition with this text. */
function hostileCondition(text: string): LogCondition {
  const label = { kind: 'label', key: text } as const;
  const tests: readonly LogTest[] = [
    { op: 'like', pieces: [text, text] },
    { op: 'regex', regex: text },
    { op: '<', value: text },
    { op: 'exists' },
  ];
  const items: LogCondition[] = [
    { kind: 'equal', field: 'host', values: [text] },
    { kind: 'stream', streamIds: [text] },
    { kind: 'label', pair: { key: text, value: text } },
    { kind: 'search', pieces: [text, text] },
    ...tests.flatMap((one): LogCondition[] => [
      { kind: 'test', target: label, test: one },
      { kind: 'test', target: { kind: 'message' }, test: one },
    ]),
  ];
  return { kind: 'not', item: { kind: 'or', items } };
}

suite('conditions of a query', () => {
  const cases: readonly (readonly [LogCondition, sql: string, ...values: unknown[]])[] = [
    [
      {
        kind: 'or',
        items: [
          { kind: 'equal', field: 'severity', values: ['err'] },
          { kind: 'not', item: { kind: 'search', pieces: ['Time', '%'] } },
        ],
      },
      '(SeverityNumber IN {p2:Array(Int64)} OR NOT (lower(Body) LIKE {p3:String}))',
      [17, 18, 19, 20],
      '%time%\\%%',
    ],
    [
      {
        kind: 'test',
        target: { kind: 'field', field: 'host' },
        test: { op: 'like', pieces: ['web-', ''] },
      },
      "(Host != '' AND Host LIKE {p2:String})",
      'web-%',
    ],
    [
      { kind: 'test', target: { kind: 'message' }, test: { op: 'regex', regex: 'a|b' } },
      "(Body != '' AND match(Body, {p2:String}))",
      'a|b',
    ],
    [
      {
        kind: 'test',
        target: { kind: 'field', field: 'severityNumber' },
        test: { op: '<', value: 13 },
      },
      'SeverityNumber < {p2:Float64}',
      '13',
    ],
    [{ kind: 'stream', streamIds: [] }, '0'],
  ];
  for (const [condition, sql, ...values] of cases) {
    test(sql, () => {
      const found = compiled({ conditions: [condition] });
      assert.equal(found.conditions.at(-1), sql);
      assert.deepEqual(found.values.slice(2), values);
    });
  }

  test('a label compares as a number that is read from its text', () => {
    const target = { kind: 'label', key: 'status' } as const;
    const { conditions, values } = compiled({
      conditions: [{ kind: 'test', target, test: { op: '>=', value: 500 } }],
    });
    const value =
      'if(mapContains(LogAttributes, {p2:String}), LogAttributes[{p2:String}], ' +
      'ResourceAttributes[{p2:String}])';
    const number = `toFloat64OrNull(${value})`;
    assert.equal(
      conditions.slice(1).join(' AND '),
      `ifNull(isFinite(${number}) AND ${number} >= {p3:Float64}, 0)`,
    );
    assert.deepEqual(values.slice(2), ['status', '500']);
  });
});

test('no value of a request becomes part of the SQL', () => {
  const hostile = "x'); DROP TABLE logs; -- {p0:Identifier}";
  const params = new Parameters();
  const sql = whereSql(
    {
      accountId: hostile,
      streams: [{ streamId: hostile, receivedFromNanos: 1n }],
      fromNanos: 1n,
      untilNanos: 2n,
      equal: new Map([['host', [hostile, hostile]]]),
      labels: [{ key: hostile, value: hostile }],
      search: [{ text: hostile, exclude: false }],
      conditions: [hostileCondition(hostile)],
    },
    params,
  );
  assert.doesNotMatch(sql, /DROP|Identifier|drop/);
});
