/**
 * Statements of the kinds that Grafana's data source for ClickHouse (its mapping of OpenTelemetry
 * logs, 1.2.9) and HyperDX (its default log source) send to `otel_logs`, on the table of logs.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type EngineStore, openEngineStore } from './engine-store.ts';
import { localToken } from './local-token.ts';
import { stampedBatch } from './log-row-fixture.ts';

const startMs = Date.parse('2026-03-01T00:00:00Z');
const nanos = (ms: number) => BigInt(ms) * 1_000_000n;
const [fromMs, untilMs] = [startMs, startMs + 600_000];

let engine: EngineStore;
before(async () => {
  engine = await openEngineStore();
  const owner = { accountId: randomUUID(), streamId: randomUUID(), receiverId: 'rcv_test' };
  const logs = Array.from({ length: 120 }, (_, index) => ({
    timestamp: nanos(startMs + index * 10_000),
    severityText: index % 4 === 0 ? 'ERROR' : 'INFO',
    severityNumber: index % 4 === 0 ? 17 : 9,
    body: `request ${index} handled`,
    serviceName: 'shop',
    logAttributes: { route: `/r${index % 3}` },
    resourceAttributes: { region: 'eu' },
  }));
  const batch = stampedBatch(logs, { owner, receivedAtNanos: nanos(startMs) });
  await engine.store.insert('logs/1', [batch], 'all', localToken);
});
after(() => engine.close());

const seconds = `( TimestampTime >= toDateTime(${fromMs / 1000})
  AND TimestampTime <= toDateTime(${untilMs / 1000}) )`;
const millis = (column: string) => `( ${column} >= fromUnixTimestamp64Milli(${fromMs})
  AND ${column} <= fromUnixTimestamp64Milli(${untilMs}) )`;

const query = (sql: string) =>
  engine.store.connection.query<unknown[]>('housekeeping', { sql, params: {} });

test('Grafana: the list of logs', async () => {
  const rows =
    await query(`SELECT Timestamp as "timestamp", Body as "body", SeverityText as "level",
      mapConcat(ResourceAttributes, LogAttributes) as "labels", TraceId as "traceID"
    FROM "weir"."logs"
    WHERE ${seconds}
      AND ${millis('timestamp')}
      AND ( SeverityText IN ('ERROR') ) AND ( Body LIKE '%handled%' )
    ORDER BY TimestampTime DESC, timestamp DESC LIMIT 1000`);
  assert.equal(rows.length, 16);
  assert.deepEqual(rows[0]?.slice(1, 4), [
    'request 60 handled',
    'ERROR',
    { region: 'eu', route: '/r0' },
  ]);
});

test('Grafana: the volume of logs by level', async () => {
  const rows = await query(`SELECT toStartOfInterval("Timestamp", INTERVAL 60 SECOND) as "time",
      sum(multiSearchAny(toString("SeverityText"), ['error','ERROR','Error'])) as error,
      sum(multiSearchAny(toString("SeverityText"), ['info','INFO','Info'])) as info
    FROM "weir"."logs"
    WHERE ${seconds}
    GROUP BY time ORDER BY time ASC LIMIT 10000`);
  assert.equal(rows.length, 11);
  assert.deepEqual(rows[0]?.slice(1).map(Number), [2, 4]);
});

test('HyperDX: the table, its columns and the keys of its maps', async () => {
  const columns = new Map(
    (await query('DESCRIBE weir.logs')).map(([name, type]) => [name, type] as const),
  );
  for (const name of ['Timestamp', 'TimestampTime', 'Body', 'ServiceName', 'SeverityText']) {
    assert.ok(columns.has(name), name);
  }
  assert.match(String(columns.get('LogAttributes')), /^Map\(LowCardinality\(String\), String\)$/);
  const keys = await query(`SELECT DISTINCT arrayJoin(mapKeys(LogAttributes)) AS key
    FROM weir.logs LIMIT 1000`);
  assert.deepEqual(keys, [['route']]);
});

test('HyperDX: search and histogram', async () => {
  const range = millis('TimestampTime');
  const rows = await query(`SELECT Timestamp, ServiceName, SeverityText, Body, TimestampTime
    FROM weir.logs
    WHERE ${range} AND ((hasToken(lower(Body), lower('handled'))))
      AND LogAttributes['route'] = '/r1'
    ORDER BY TimestampTime DESC LIMIT 200 OFFSET 0`);
  assert.equal(rows.length, 20);
  const buckets = await query(`SELECT count(), SeverityText,
      toStartOfInterval(toDateTime(TimestampTime), INTERVAL 5 minute) AS \`__hdx_time_bucket\`
    FROM weir.logs WHERE ${range}
    GROUP BY SeverityText, \`__hdx_time_bucket\` ORDER BY \`__hdx_time_bucket\`, SeverityText`);
  assert.deepEqual(
    buckets.map(([count, level]) => [Number(count), level]),
    [
      [8, 'ERROR'],
      [22, 'INFO'],
      [7, 'ERROR'],
      [23, 'INFO'],
      [1, 'ERROR'],
    ],
  );
});

test('a range of TimestampTime uses the primary index', async () => {
  const plan = await query(`EXPLAIN indexes = 1 SELECT count() FROM weir.logs
    WHERE AccountId = 'a' AND StreamId = 's' AND TimestampTime >= toDateTime(${untilMs / 1000})`);
  const text = plan.map(([line]) => String(line)).join('\n');
  assert.match(text, /PrimaryKey[^]*Timestamp/);
});
