/** Statements of metrics, matchers as conditions, and decoding of rows. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RowReader } from '../../codec/row-reader.ts';
import type { StampedBatch } from '../../model/batch.ts';
import type { LabelMatcher, SamplesPlan, Selector } from '../../model/metric-plan.ts';
import { compileDeleteStream } from './housekeeping.ts';
import { compileInsertSection } from './insert-metrics.ts';
import type { InsertTarget } from './insert-settings.ts';
import { compileExemplars, compileSamples, toExemplar } from './samples.ts';
import {
  compileLabelNames,
  compileLabelValues,
  compileMetadata,
  compileSeries,
  selectorsCondition,
  toMetadata,
} from './series.ts';
import { Parameters, type ReadLimits, type Statement } from './statement.ts';

const target: InsertTarget = {
  placement: { database: 'weir', cluster: undefined },
  insertQuorum: 'auto',
  pass: undefined,
};
const limits: ReadLimits = {
  maxSeconds: 2.5,
  maxMemoryBytes: 1_000,
  maxRowsRead: 30,
  maxRowsReturned: 40,
};

const second = 1_000_000_000n;
const hour = 3600n * second;

const plan: SamplesPlan = {
  accountId: 'account',
  streams: [{ streamId: 'stream', receivedFromNanos: 100n * hour + 1n }],
  selectors: [[{ name: '__name__', type: 'equal', value: 'up' }]],
  fromMs: -5n,
  untilMs: 86_400_000n,
  maxSeries: 10,
  maxSamples: 20,
};

/** The text between FROM and SETTINGS, and all values. */
function middle({ sql, params }: Statement) {
  const text = sql.slice(sql.indexOf('FROM'), sql.indexOf('\nSETTINGS'));
  return { text, values: Object.values(params) };
}

test('reads each sample of a stream once, up to the limit', () => {
  const step = { seriesIds: ['7', '9'], limit: 21, limits };
  const statement = compileSamples('weir', plan, step);
  assert.deepEqual(middle(statement), {
    text: `FROM
(
  SELECT SeriesId, UnixMilli, reinterpretAsUInt64(Value) AS bits
  FROM weir.samples FINAL
  WHERE AccountId = {p0:String}
    AND StreamId = {p1:String}
    AND ReceivedAt >= toDateTime({p2:Int64}, 'UTC')
    AND SeriesId IN {p3:Array(UInt128)}
    AND UnixMilli >= {p4:Int64}
    AND UnixMilli <= {p5:Int64}
  LIMIT 21
)
GROUP BY SeriesId`,
    values: ['account', 'stream', '360001', '[7,9]', '-5', '86400000'],
  });
  assert.match(statement.sql, /FORMAT RowBinary$/);
  assert.match(statement.sql, /max_execution_time = 2\.500,/);
});

test('merges samples of several streams with the same time', () => {
  const streams = ['a', 'b'].map((streamId) => ({ streamId, receivedFromNanos: 0n }));
  const { sql } = compileSamples(
    'weir',
    { ...plan, streams },
    { seriesIds: ['1'], limit: 2, limits },
  );
  assert.match(
    sql,
    /ORDER BY SeriesId, UnixMilli, ReceivedAt DESC\s+LIMIT 1 BY SeriesId, UnixMilli/,
  );
  const exemplars = compileExemplars('weir', plan, { seriesIds: ['1'], limit: 2, limits });
  assert.match(exemplars.sql, /LIMIT 1 BY SeriesId, UnixMilli, Digest\nLIMIT 2\n/);
});

test('keeps labels 25 hours longer than samples, but not past a deletion', () => {
  const statement = compileSeries('weir', plan, 11, limits);
  assert.deepEqual(middle(statement), {
    text: `FROM weir.series
WHERE AccountId = {p0:String}
  AND StreamId = {p1:String}
  AND ReceivedAt >= fromUnixTimestamp64Nano({p2:Int64}, 'UTC')
  AND Day >= toDate({p3:UInt16})
  AND Day <= toDate({p4:UInt16})
  AND MetricName = {p5:String}
GROUP BY SeriesId
ORDER BY labels
LIMIT 11`,
    values: ['account', 'stream', String(75n * hour + 1n), '0', '1', 'up'],
  });
  const [stream] = plan.streams;
  const streams = [{ ...stream!, deletedUntilNanos: 90n * hour }];
  const { params } = compileSeries('weir', { ...plan, streams }, 11, limits);
  assert.equal(params['p2'], String(90n * hour + 1n));
});

test('sorts and limits label names and values', () => {
  const seriesPlan = { ...plan, selectors: [], limit: 3 };
  const names = compileLabelNames('weir', seriesPlan, limits);
  assert.match(names.sql, /ORDER BY name\nLIMIT 3\n/);
  const values = compileLabelValues('weir', seriesPlan, "it's", limits);
  assert.match(values.sql, /DISTINCT Labels\[\{p0:String\}\] AS value/);
  assert.equal(values.params['p0'], "it's");
  const metrics = compileLabelValues('weir', seriesPlan, '__name__', limits);
  assert.match(metrics.sql, /DISTINCT MetricName AS value/);
});

test('reads the last received metadata of each metric', () => {
  const metadataPlan = { ...plan, metric: 'up', limit: 4 };
  const { sql } = compileMetadata('weir', metadataPlan, limits);
  assert.match(sql, /FROM weir\.metric_metadata FINAL\n/);
  assert.match(sql, /MetricName = \{p3:String\}\nORDER BY MetricName, ReceivedAt DESC\n/);
  assert.match(sql, /LIMIT 1 BY MetricName\nLIMIT 4\n/);
  const unknown = { name: 'up', type: 'unknown', unit: '', help: '' };
  assert.deepEqual(toMetadata(['up', '', '', '']), unknown);
});

test('decodes the value of an exemplar from its bits', () => {
  const bits = String(0x3ff8_0000_0000_0000n);
  assert.deepEqual(toExemplar([], ['1', '-7', bits, ['trace_id'], ['x']]), {
    seriesLabels: [],
    labels: [['trace_id', 'x']],
    timeMs: -7n,
    value: 1.5,
  });
});

suite('inserts', () => {
  const batch: StampedBatch = {
    id: { writer: 1n, sequence: 1n },
    receivedAtNanos: 1n,
    owner: { accountId: 'a', streamId: 's', receiverId: 'r' },
    layout: 'metrics/1',
    rows: 2_000,
    payload: new Uint8Array(),
  };

  test('inserts samples as three arrays, with values as bits', () => {
    const { sql } = compileInsertSection(target, 'samples', [batch]);
    assert.match(sql, /^INSERT INTO weir\.samples \(AccountId, StreamId, ReceivedAt, SeriesId, /);
    assert.match(sql, /ids Array\(UInt128\),\s+times Array\(Int64\),\s+values Array\(UInt64\)/);
    assert.match(sql, /ARRAY JOIN ids AS id, times AS time, values AS bits/);
    assert.match(sql, /max_block_size = 33,/, 'about 65,536 samples a block');
    assert.match(sql, /async_insert = 0/);
  });

  test('inserts other sections as arrays of tuples', () => {
    const { sql } = compileInsertSection(target, 'series', [batch]);
    assert.match(
      sql,
      /rows Array\(Tuple\(id UInt128, day UInt16, labels Map\(String, String\)\)\)/,
    );
    assert.match(sql, /ARRAY JOIN rows AS r/);
  });
});

test('deletes exactly the rows that reads hide', () => {
  const range = { accountId: 'a', streamId: 's', untilNanos: 7n * second };
  assert.deepEqual(Object.values(compileDeleteStream(target.placement, 'samples', range).params), [
    'a',
    's',
    '8',
  ]);
  const logs = compileDeleteStream(target.placement, 'logs', range);
  assert.match(logs.sql, /ReceivedAt < fromUnixTimestamp64Nano\(\{p2:Int64\}, 'UTC'\)/);
  assert.equal(logs.params['p2'], String(7n * second + 1n));
});

function compiled(...selectors: Selector[]): { conditions: string[]; values: unknown[] } {
  const params = new Parameters();
  const conditions = selectorsCondition(selectors, params);
  return { conditions, values: Object.values(params.values) };
}

const a: LabelMatcher = { name: 'a', type: 'equal', value: '1' };

suite('selectors', () => {
  test('no selector, or an empty one, selects every series', () => {
    assert.deepEqual(compiled().conditions, []);
    assert.deepEqual(compiled([a], []).conditions, []);
  });

  test('joins matchers by AND, selectors by OR', () => {
    const name: LabelMatcher = { name: '__name__', type: 'notEqual', value: 'up' };
    assert.deepEqual(compiled([a, name], [a]), {
      conditions: [
        '((Labels[{p0:String}] = {p1:String} AND MetricName != {p2:String})' +
          ' OR (Labels[{p3:String}] = {p4:String}))',
      ],
      values: ['a', '1', 'up', 'a', '1'],
    });
  });

  test('a pattern matches the whole value and must be valid alone', () => {
    const pattern = "it's|\\d{2}";
    for (const [type, before] of [
      ['matches', ''],
      ['notMatches', 'NOT ('],
    ] as const) {
      const { conditions, values } = compiled([{ name: '__name__', type, value: pattern }]);
      assert.equal(
        conditions[0],
        `${before}match(MetricName, {p0:String})` +
          ` AND replaceRegexpOne('', {p1:String}, '') = ''${before && ')'}`,
      );
      assert.deepEqual(values, [`^(?s:${pattern})$`, pattern]);
    }
  });
});

test('reads values in order', () => {
  const id = Buffer.alloc(16);
  id.writeBigUInt64LE(7n);
  id.writeBigUInt64LE(1n, 8);
  const time = Buffer.alloc(8);
  time.writeBigInt64LE(-9n);
  const text = Buffer.concat([Buffer.from([0x80, 0x01]), Buffer.alloc(128, 'x')]);
  const reader = new RowReader(Buffer.concat([id, time, text, Buffer.from([1]), time]));
  assert.equal(reader.uint128(), (1n << 64n) | 7n);
  assert.equal(reader.int64(), -9n);
  assert.equal(Buffer.from(reader.string()).toString(), 'x'.repeat(128));
  assert.equal(reader.hasMore(), true);
  assert.deepEqual([...new BigInt64Array(reader.wordArray())], [-9n]);
  assert.equal(reader.hasMore(), false);
});

test('rejects truncated rows', () => {
  const reads: ((reader: RowReader) => unknown)[] = [
    (reader) => reader.string(),
    (reader) => reader.wordArray(),
    (reader) => reader.int64(),
    (reader) => reader.uint128(),
  ];
  for (const read of reads) {
    assert.throws(() => read(new RowReader(Buffer.from([2, 1]))), RangeError);
  }
});
