/** Snapshots of whole statements, so that a change shows in review. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StampedBatch } from '../../model/batch.ts';
import type { LogFilter } from '../../model/plan.ts';
import { compileFacets, toFacetsResults } from './facets.ts';
import { compileHistogram, toHistogramResult } from './histogram.ts';
import { compileDropDay } from './housekeeping.ts';
import { compileInsert } from './insert-logs.ts';
import type { InsertTarget } from './insert-settings.ts';
import { selectColumns } from './log-record.ts';
import { compileList } from './list-logs.ts';
import type { ReadLimits } from './statement.ts';
import { tableName } from './tables.ts';

const limits: ReadLimits = {
  maxSeconds: 2.5,
  maxMemoryBytes: 1_000,
  maxRowsRead: 30,
  maxRowsReturned: 40,
};
const settings = `SETTINGS
  max_execution_time = 2.500,
  max_memory_usage = 1000,
  max_bytes_before_external_group_by = 500,
  max_bytes_before_external_sort = 500,
  max_rows_to_read = 30,
  max_result_rows = 40,
  max_threads_min_free_memory_per_thread = 0`;

const target: InsertTarget = {
  placement: { database: 'weir', cluster: undefined },
  insertQuorum: 'auto',
  pass: undefined,
};

const unused = new Set<string>();

const filter: LogFilter = {
  accountId: 'account',
  streams: [{ streamId: 'stream', receivedFromNanos: 0n }],
  fromNanos: undefined,
  untilNanos: undefined,
  equal: new Map(),
  labels: [],
  search: [],
};

test('a list reads no columns but those of the paths', () => {
  const namesIn = (sql: string) => sql.match(/\b(?!Map|String|CAST|AS)[A-Z]\w+/g);
  assert.deepEqual(namesIn(selectColumns(['message', 'kubernetes.pod'], unused)), [
    'Timestamp',
    'Tie',
    'Body',
    'K8sPod',
  ]);
  assert.deepEqual(namesIn(selectColumns(['scope'], unused)), [
    'Timestamp',
    'Tie',
    'ScopeName',
    'ScopeVersion',
  ]);
});

test('a list reads no columns without a value', () => {
  const withoutPods = new Set(['K8sPod', 'ResourceAttributes', 'TraceFlags']);
  const all = selectColumns(undefined, unused);
  const selected = selectColumns(undefined, withoutPods);
  assert.equal(
    selected,
    all
      .replace('K8sPod', "''")
      .replace('ResourceAttributes', 'CAST(map() AS Map(String, String))')
      .replace('TraceFlags', '0'),
  );
});

test('a list step reads one window on one side of the position', () => {
  const position = { timeNanos: 5n, tie: 6n };
  const plan = { filter, limit: 100, direction: 'older', position } as const;
  const window = { fromNanos: 1n, untilNanos: 9n };
  const { sql, params } = compileList(
    'weir.logs',
    { ...plan, untilWatermarkNanos: undefined },
    { window, limit: 7, limits, unused },
  );
  assert.equal(
    sql.slice(sql.indexOf('FROM')),
    `FROM weir.logs
WHERE AccountId = {p0:String}
  AND StreamId = {p1:String}
  AND Timestamp >= fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
  AND Timestamp < fromUnixTimestamp64Nano({p3:Int64}, 'UTC')
  AND Timestamp <= fromUnixTimestamp64Nano({p4:Int64}, 'UTC')
  AND if(Timestamp < fromUnixTimestamp64Nano({p4:Int64}, 'UTC'), 1, Tie < {p5:UInt64})
ORDER BY Timestamp DESC, Tie DESC
LIMIT 7
${settings}`,
  );
  assert.deepEqual(Object.values(params), ['account', 'stream', '1', '9', '5', '6']);
});

test('a list with a filter evaluates it before the columns that it sorts by are read', () => {
  const listed = (change: Partial<LogFilter>) => {
    const plan = { filter: { ...filter, ...change }, limit: 9, direction: 'older' } as const;
    const all = { position: undefined, untilWatermarkNanos: undefined };
    const window = { fromNanos: 1n, untilNanos: undefined };
    return compileList('weir.logs', { ...plan, ...all }, { window, limit: 9, limits, unused }).sql;
  };
  const none = { equal: new Map(), labels: [] };
  assert.ok(listed({ fromNanos: 2n, excluded: none }).endsWith(settings));
  for (const change of [
    { equal: new Map([['host', ['h']]]) as LogFilter['equal'] },
    { labels: [{ key: 'k', value: 'v' }] },
    { search: [{ text: 'word', exclude: true }] },
    { minSeverity: 9 },
    { conditions: [{ kind: 'search', pieces: ['a', 'b'] }] },
    { excluded: { ...none, labels: [{ key: 'k', value: 'v' }] } },
  ] satisfies Partial<LogFilter>[]) {
    assert.ok(listed(change).endsWith(`${settings},\n  use_top_k_dynamic_filtering = 0`));
  }
});

test('a list by a phrase lets all threads consult the indexes', () => {
  const rowLimit = (change: Partial<LogFilter>) => {
    const plan = { filter: { ...filter, ...change }, limit: 9, direction: 'older' } as const;
    const all = { position: undefined, untilWatermarkNanos: undefined };
    const window = { fromNanos: 1n, untilNanos: undefined };
    const { sql } = compileList(
      'weir.logs',
      { ...plan, ...all },
      { window, limit: 9, limits, unused },
    );
    return /max_rows_to_read = (\d+)/.exec(sql)?.[1];
  };
  assert.equal(rowLimit({ search: [{ text: 'order 7 of', exclude: false }] }), '0');
  assert.equal(rowLimit({ conditions: [{ kind: 'search', pieces: ['order 7'] }] }), '0');
  assert.equal(rowLimit({ search: [{ text: 'order', exclude: false }] }), '30');
  assert.equal(rowLimit({ search: [{ text: 'order 7', exclude: true }] }), '30');
});

test('a histogram whose buckets are whole milliseconds divides once', () => {
  const plan = { filter, startMs: 1_000, endMs: 2_000, buckets: 10, groupBy: undefined, topK: 10 };
  const bucket = 'toUInt16(intDiv(toUnixTimestamp64Nano(Timestamp) - {p0:Int64}, {p1:Int64}))';
  assert.equal(
    compileHistogram('weir.logs', plan, { limits }).sql,
    `SELECT ${bucket} AS bucket, '' AS value,
  toString(count())
FROM weir.logs
WHERE AccountId = {p2:String}
  AND StreamId = {p3:String}
GROUP BY bucket
${settings}`,
  );
});

test('other histograms use the exact inverse of the floored edges', () => {
  const range = { startMs: 0, endMs: 1_000, buckets: 7 };
  const plan = { filter, ...range, groupBy: 'severity', topK: 10 } as const;
  const { sql } = compileHistogram('weir.logs', plan, { limits });
  const millis = 'intDiv(toUnixTimestamp64Nano(Timestamp), 1000000)';
  const inverse = `(${millis} - {p0:Int64} + 1) * {p1:Int64} - 1`;
  assert.ok(sql.includes(`toUInt16(intDiv(${inverse}, {p2:Int64}))`));
  assert.match(sql, /^WITH bitOr\(.* AS severityKey$/m);
  assert.match(sql, /toString\(any\(SeverityText\)\)\) AS value,$/m);
  assert.match(sql, /GROUP BY bucket, severityKey$/m);
});

test('buckets without rows count zero, and groups are summed', () => {
  const range = { startMs: 0, endMs: 3, buckets: 3 };
  const plan = { filter, ...range, groupBy: 'severity', topK: 10 } as const;
  const result = toHistogramResult(plan, [
    [2, 'INFO', '5'],
    [0, 'WARN', '1'],
    [2, 'WARN', '2'],
  ]);
  assert.deepEqual(result.counts, [1, 0, 7]);
  assert.deepEqual(result.groups!.get('WARN'), [1, 0, 2]);
});

test('several facets need one scan', () => {
  const plan = { filter, fields: ['serviceName', 'host', 'streamId'] as const, topK: 3 };
  assert.equal(
    compileFacets('weir.logs', plan, limits).sql,
    `SELECT field, value, toString(n), toString(total)
FROM
(
  SELECT
    toUInt8(transform(grouping(ServiceName, Host, StreamId), [3,5,6], [0,1,2], 255)) AS field,
    concat(toString(ServiceName), toString(Host), toString(StreamId)) AS value,
    count() AS n,
    sum(n) OVER (PARTITION BY field) AS total
  FROM weir.logs
  WHERE AccountId = {p0:String}
    AND StreamId = {p1:String}
  GROUP BY GROUPING SETS ((ServiceName), (Host), (StreamId))
)
ORDER BY field, n DESC, value
LIMIT 3 BY field
${settings}`,
  );
});

test('a field without rows has no values and other is 0', () => {
  const plan = { filter, fields: ['severity', 'host'] as const, topK: 1 };
  assert.deepEqual(toFacetsResults(plan, [[1, 'h', '3', '5']]), [
    { field: 'severity', values: [], other: 0, total: 0 },
    { field: 'host', values: [{ value: 'h', count: 3 }], other: 2, total: 5 },
  ]);
});

test('an insert of missing rows is bounded by time of receipt and batch ids', () => {
  const batch = (writer: bigint, sequence: bigint, receivedAtNanos: bigint): StampedBatch => ({
    id: { writer, sequence },
    receivedAtNanos,
    owner: { accountId: 'a', streamId: 's', receiverId: 'r' },
    layout: 'logs/1',
    rows: 1_000,
    payload: new Uint8Array(),
  });
  const batches = [batch(1n, 8n, 30n), batch(1n, 3n, 10n), batch(2n, 1n, 20n)];
  const { sql, params } = compileInsert(target, batches, 'missing');
  assert.match(sql, /NOT IN \(\s+SELECT Batch, Row FROM weir\.logs/);
  assert.match(sql, /max_block_size = 66,/, 'about 65,536 rows a block');
  const one = 1n << 64n;
  assert.deepEqual(
    Object.values(params),
    [one + 3n, one + 8n, 2n * one + 1n, 2n * one + 1n, 10n, 30n].map(String),
  );
  assert.doesNotMatch(compileInsert(target, batches, 'all').sql, /NOT IN/);
});

test('rejects invalid names', () => {
  assert.throws(() => tableName('weir; DROP', 'logs'), /cannot use database name/);
  assert.throws(() => compileDropDay(target.placement, 'logs', "1'; --"), /cannot read/);
});
