/** Percentiles of many logs are of a sample that the answer tells, unless they must be exact. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { LogFilter, StatsPlan } from '../../src/model/plan.ts';
import type { ReaderParts } from '../../src/store/read-time.ts';
import { readStats } from '../../src/store/stats-reader.ts';
import { type EngineStore, generousLimits, onCluster, openEngineStore } from './engine-store.ts';
import { everyLog } from './read-oracle.ts';

const startMs = Date.parse('2026-03-01T00:00:00Z');
const endMs = startMs + 3_600_000;
const accountId = randomUUID();
const streamId = randomUUID();
const rows = 100_000;
const filter: LogFilter = {
  ...everyLog(accountId, [streamId]),
  fromNanos: BigInt(startMs) * 1_000_000n,
  untilNanos: BigInt(endMs) * 1_000_000n,
};
const plan: StatsPlan = {
  filter,
  startMs,
  endMs,
  buckets: 2,
  stats: [{ op: 'quantile', field: 'label.ms', quantile: 0.95 }],
  by: ['serviceName'],
  limit: 5,
  isExact: false,
};

let engine: EngineStore;
let parts: ReaderParts;
const sampling = { rows: rows / 10, minSampled: rows / 20 };
const read = (change: Partial<StatsPlan> = {}, own = sampling) =>
  readStats({ ...parts, sampling: own }, { ...plan, ...change }, { accountId });

before(async () => {
  engine = await openEngineStore();
  const { connection, events } = engine.store;
  parts = { connection, database: 'weir', events, limits: generousLimits };
  // Values from 0 to 999 in another order in each service.
  const sql = `INSERT INTO weir.logs
  (Timestamp, ReceivedAt, AccountId, StreamId, ServiceName, LogAttributes, Tie)
SELECT fromUnixTimestamp64Milli(${startMs} + intDiv(number * 3600, 100), 'UTC') AS time, time,
  '${accountId}', '${streamId}', if(number % 4 = 0, 'rare', 'usual'),
  map('ms', toString(sipHash64(number) % 1000)), number
FROM numbers(${rows})`;
  if (!onCluster) await connection.execute('housekeeping', { sql, params: {} });
});
after(() => engine.close());

suite('percentiles of many logs', { skip: onCluster && 'only on one server' }, () => {
  test('are of a sample over the whole range', async () => {
    const { groups, isExact, sampled } = await read();
    assert.equal(isExact, false);
    assert.ok(sampled! >= sampling.minSampled && sampled! < rows / 5, String(sampled));
    const services = new Set(groups.map(({ values }) => values![0]));
    assert.deepEqual(services, new Set(['rare', 'usual']));
    for (const { points } of groups) {
      assert.deepEqual(
        points.map(({ bucket }) => bucket),
        [0, 1],
      );
      for (const { values } of points) {
        assert.equal(values.length, 1);
        assert.ok(Math.abs(values[0]! - 950) < 30, String(values[0]));
      }
    }
  });

  test('are of a sample without groups', async () => {
    const { groups, sampled } = await read({ by: [] });
    assert.ok(sampled! < rows / 5);
    assert.deepEqual(groups[0]!.values, []);
  });

  for (const [why, change, own] of [
    ['where they must be', { isExact: true }, sampling],
    ['beside a statistic that needs all', { stats: [...plan.stats, countOfLogs()] }, sampling],
    ['of few logs', {}, { ...sampling, rows }],
    ['where the sample has few', {}, { ...sampling, minSampled: rows / 2 }],
  ] as const) {
    test(`are exact ${why}`, async () => {
      const result = await read(change, own);
      assert.equal(result.isExact, true);
      assert.equal(result.sampled, undefined);
    });
  }
});

function countOfLogs() {
  return { op: 'count', field: undefined } as const;
}
