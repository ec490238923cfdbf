/** What the cache asks the store, and what it does not ask again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClickHouseError } from '@clickhouse/client';
import { until } from '../../../test/harness/until.ts';
import type { Statement } from '../sql/statement.ts';
import { createCountCache } from './count-cache.ts';
import { countDefaults } from './count-steps.ts';
import { ticksOf } from './ticks.ts';

const placement = { database: 'weir', cluster: undefined };
const always = ticksOf({ fromNanos: undefined, untilNanos: undefined }, [], 1);
const part = ['20260301_1_9_2', '900000', 60] as const;
const tooManyGroups = new ClickHouseError({ message: 'Limit', code: '158', type: 'TOO_MANY_ROWS' });

test('a part without logs of the account is looked up once and not counted', async () => {
  const asked: string[] = [];
  const connection = {
    query: async (_pool: string, { sql }: Statement) => {
      asked.push(sql);
      return [];
    },
  };
  const cache = createCountCache(connection, placement, countDefaults);
  for (let i = 0; i < 3; i++) {
    cache.want([part], [{ accountId: 'a', fields: [] }], always);
    await cache.settled();
  }
  assert.equal(asked.length, 1);
  assert.match(asked[0]!, /mergeTreeIndex/);
});

test('the part of an insert is counted when a minute old, a merged part sooner', async () => {
  const isCounted = async (name: string, ageSeconds: number) => {
    let asked = 0;
    const connection = {
      query: async () => {
        asked++;
        return [];
      },
    };
    const cache = createCountCache(connection, placement, countDefaults);
    cache.want([[name, '900000', ageSeconds]], [{ accountId: 'a', fields: [] }], always);
    await cache.settled();
    return asked > 0;
  };
  assert.equal(await isCounted('20260301_1_1_0', 59), false);
  assert.equal(await isCounted('20260301_1_1_0', 60), true);
  assert.equal(await isCounted('20260301_1_9_1', 5), true);
  assert.equal(await isCounted('20260301_1_9_1', 4), false);
});

test('of counts that take too much memory the large and unused go first', async () => {
  const labels = ['label.large', 'label.small', 'label.new'] as const;
  const sizes = { 'label.small': 10, 'label.large': 500, 'label.new': 300 };
  const connection = {
    query: async (_pool: string, { sql, params }: Statement) => {
      if (sql.includes('mergeTreeIndex')) return [[part[0], '0', '60000000000']] as never[];
      if (sql.includes('system.parts')) return [part] as never[];
      const label = labels.find((name) => Object.values(params).includes(name.slice(6)))!;
      const ticks = Array.from({ length: sizes[label] }, (_, i) => i);
      return [['stream', ['value'], ticks, ticks, 0, 500]] as never[];
    },
  };
  const options = { ...countDefaults, maxCountsKept: 1_200 };
  const cache = createCountCache(connection, placement, options);
  const get = (label: (typeof labels)[number]) =>
    cache.get({ part: part[0], accountId: 'a', fields: [label] });
  for (const label of labels) {
    // Time passes, in which what is here is not used.
    const at = performance.now();
    await until(() => performance.now() > at, { what: 'the clock to move' });
    cache.want([part], [{ accountId: 'a', fields: [label] }], always);
    await cache.settled();
  }
  assert.deepEqual(
    labels.filter((label) => get(label) !== undefined),
    ['label.small', 'label.new'],
  );
});

test('counts by a longer step replace those beyond the limit', async () => {
  const steps: string[] = [];
  const connection = {
    query: async (_pool: string, { sql, params }: Statement) => {
      if (sql.includes('mergeTreeIndex')) {
        const spans = Object.values(params)
          .flat()
          .map((name) => [name, '0', '60000000000']);
        return spans as never[];
      }
      steps.push(/intDiv\(\S+ (\d+)\)/.exec(sql)?.[1] ?? '');
      if (steps.at(-1) === '100000000') throw tooManyGroups;
      return [['stream', [], [0, 1_000], [5, 5], 0, 1_999]] as never[];
    },
  };
  const cache = createCountCache(connection, placement, countDefaults);
  cache.want([part], [{ accountId: 'a', fields: [] }], always);
  await cache.settled();
  assert.deepEqual(steps, ['100000000', '1000000000']);
  assert.equal(cache.get({ part: part[0], accountId: 'a', fields: [] })?.step, 1_000);

  const asLarge = ['20260301_10_19_2', '900000', 60] as const;
  cache.want([asLarge], [{ accountId: 'a', fields: [] }], always);
  await cache.settled();
  assert.deepEqual(steps.slice(2), ['1000000000'], 'a step that failed is not tried again');
  const larger = ['20260301_20_99_2', '9000000', 60] as const;
  cache.want([larger], [{ accountId: 'a', fields: [] }], always);
  await cache.settled();
  assert.deepEqual(steps.slice(3), ['100000000', '1000000000'], 'but in a larger part');
});

test('a part like one that had too many counts is counted after ten minutes', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  let asked = 0;
  const connection = {
    query: async (_pool: string, { sql, params }: Statement) => {
      if (sql.includes('mergeTreeIndex')) {
        const names = Object.values(params).flat();
        return names.map((name) => [name, '0', '60000000000']) as never[];
      }
      asked++;
      throw tooManyGroups;
    },
  };
  const cache = createCountCache(connection, placement, countDefaults);
  const count = async (name: string) => {
    const before = asked;
    cache.want([[name, '900000', 60]], [{ accountId: 'a', fields: [] }], always);
    await cache.settled();
    return asked - before;
  };
  const steps = await count('20260301_1_9_2');
  assert.ok(steps > 0);
  assert.equal(await count('20260301_10_19_2'), 0);
  nowMs = 600_000;
  assert.equal(await count('20260301_10_19_2'), steps);
  assert.equal(await count('20260301_1_9_2'), 0, 'the first had too many itself');
});

test('a part whose counts failed for memory of other statements is counted later', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  let asked = 0;
  const connection = {
    query: async (_pool: string, { sql }: Statement) => {
      if (sql.includes('mergeTreeIndex')) return [[part[0], '0', '60000000000']] as never[];
      asked++;
      const message = '(total) memory limit exceeded: would use 814.17 MiB';
      throw new ClickHouseError({ message, code: '241', type: 'MEMORY_LIMIT_EXCEEDED' });
    },
  };
  const cache = createCountCache(connection, placement, countDefaults);
  const count = async () => {
    const before = asked;
    cache.want([part], [{ accountId: 'a', fields: [] }], always);
    await cache.settled();
    return asked - before;
  };
  const steps = await count();
  assert.ok(steps > 0);
  assert.equal(await count(), 0, 'not at once');
  nowMs = 600_000;
  assert.equal(await count(), steps);
});
