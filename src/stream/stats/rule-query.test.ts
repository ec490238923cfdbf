/**
 * Rules on logs: the counts and sums of all steps of a preview are those of each step alone, and
 * the logs of a group are found by its labels.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { ListPlan, StatsPlan, StatsResult } from '../../model/plan.ts';
import type { LogsRuleQuery } from '../../model/rules.ts';
import { createLogsRuleQuery, createRuleSamples } from './rule-query.ts';

const owner = { accountId: 'a', streamId: '018f0000-0000-7000-8000-000000000001' };
const originMs = Date.UTC(2026, 0, 1);
const counting: LogsRuleQuery = {
  query: '',
  stat: 'count',
  by: '',
  windowMs: 300,
  condition: undefined,
};

interface Log {
  readonly atMs: number;
  readonly service: string;
  readonly ms: number | undefined;
}

const stream = {
  streamId: owner.streamId,
  name: 'all',
  retentionDays: 36_500,
  downsampling: null,
  dataDeletedUntil: null,
};
const source = {
  grants: { streams: () => Promise.resolve([stream as never]) },
  now: () => originMs + 86_400_000,
};

function queryOf(logs: readonly Log[]) {
  const reads: StatsPlan[] = [];
  const { at, over } = createLogsRuleQuery({
    ...source,
    store: {
      stats: (plan: StatsPlan) => {
        reads.push(plan);
        return Promise.resolve(countIn(logs, plan));
      },
    } as never,
  });
  return { at, over, reads };
}

/** What the store answers. */
function countIn(logs: readonly Log[], plan: StatsPlan): StatsResult {
  const [{ op, field }] = plan.stats as readonly [StatsPlan['stats'][number]];
  const statOf = (some: readonly Log[]) => {
    if (field === undefined) return some.length;
    const numbers = some.flatMap(({ ms }) => ms ?? []);
    if (op === 'count') return numbers.length;
    return numbers.length === 0 ? null : numbers.reduce((sum, ms) => sum + ms, 0);
  };
  const width = (plan.endMs - plan.startMs) / plan.buckets;
  const within = logs.filter(({ atMs }) => atMs >= plan.startMs && atMs < plan.endMs);
  const names = plan.by.length === 0 ? [''] : [...new Set(within.map(({ service }) => service))];
  const toGroup = (values: readonly string[] | undefined, own: readonly Log[]) => {
    const buckets = Map.groupBy(own, ({ atMs }) => Math.floor((atMs - plan.startMs) / width));
    const points = Array.from(buckets, ([bucket, some]) => ({ bucket, values: [statOf(some)] }));
    return { values, points: points.toSorted((a, b) => a.bucket - b.bucket) };
  };
  const isIn = (name: string) => (log: Log) => plan.by.length === 0 || log.service === name;
  const shown = names.slice(0, plan.limit);
  const groups = shown.map((name) => {
    return toGroup(plan.by.length === 0 ? [] : [name], within.filter(isIn(name)));
  });
  const rest = within.filter(({ service }) => plan.by.length > 0 && !shown.includes(service));
  return {
    isExact: true,
    groups: [...groups, ...(rest.length > 0 ? [toGroup(undefined, rest)] : [])],
  };
}

const logsOf = fc.array(
  fc.record({
    atMs: fc.integer({ min: originMs - 1000, max: originMs + 3000 }),
    service: fc.constantFrom('a', 'b', 'c'),
    ms: fc.constantFrom(undefined, 0, 1, 7),
  }),
  { maxLength: 60 },
);

suite('the counts and sums of all steps', () => {
  test('are those of each step alone, from one read', () =>
    fc.assert(
      fc.asyncProperty(
        logsOf,
        fc.constantFrom('', 'service'),
        fc.constantFrom(20, 50, 100, 130, 250, 800),
        fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
        fc.constantFrom('count', 'rate', 'count(label.ms)', 'sum(label.ms)'),
        async (logs, by, windowMs, than, stat) => {
          const condition = than === undefined ? undefined : ({ op: '>=', value: than } as const);
          const rule = { ...counting, stat, by, windowMs, condition };
          const { at, over, reads } = queryOf(logs);
          const times = { startMs: originMs + 37, endMs: originMs + 2037, stepMs: 100 };
          const all = await over(owner, rule, times);
          assert.ok(all);
          assert.equal(reads.length, 1);
          assert.equal(all.size, 21);
          for (const [timeMs, vector] of all) {
            const sorted = (samples: typeof vector) =>
              samples.map(({ labels, value }) => JSON.stringify([labels, value])).toSorted();
            assert.deepEqual(sorted(vector), sorted(await at(owner, rule, timeMs)));
          }
        },
      ),
    ));

  const times = { startMs: originMs, endMs: originMs + 86_400_000, stepMs: 60_000 };
  const alone: readonly (readonly [string, Partial<LogsRuleQuery>])[] = [
    ['of another stat', { stat: 'p95(label.ms)', windowMs: 60_000 }],
    ['of more buckets than fit in memory', { windowMs: 61_000 }],
    ['of more groups than fit in memory', { by: 'service', windowMs: 60_000 }],
  ];
  for (const [what, part] of alone) {
    test(`${what} need a read each`, async () => {
      const logs = Array.from({ length: 99 }, (_, i) => ({
        atMs: originMs,
        service: `${i}`,
        ms: i,
      }));
      assert.equal(await queryOf(logs).over(owner, { ...counting, ...part }, times), undefined);
    });
  }
});

test('more groups than are read fail where the rule could select them', async () => {
  const many = Array.from({ length: 1001 }, (_, i) => ({
    atMs: originMs,
    service: `${i}`,
    ms: 1,
  }));
  const selectedOf = async (part: Partial<LogsRuleQuery>, logs: readonly Log[] = many) => {
    const rule = { ...counting, by: 'service', ...part };
    return (await queryOf(logs).at(owner, rule, originMs + 1)).length;
  };
  const than = (op: '>' | '>=' | '<' | '<=' | '==' | '!=', value: number) => ({
    condition: { op, value },
  });
  assert.equal(await selectedOf(than('>', 1)), 0);
  assert.equal(await selectedOf(than('>=', 2)), 0);
  const cut = [than('>', 0), than('>=', 1), than('<', 1), than('<=', 0), than('==', 5), {}];
  for (const part of cut) {
    await assert.rejects(selectedOf(part), /more than 1000 groups of service/);
    assert.ok((await selectedOf(part, many.slice(1))) <= 1000);
  }
  // Groups without a number are the last ones.
  const half = many.map((log, i) => ({ ...log, ms: i < 500 ? 1 : undefined }));
  assert.equal(await selectedOf({ stat: 'sum(label.ms)', ...than('<', 2) }, half), 500);
});

function openSamples() {
  const plans: ListPlan[] = [];
  const list = (plan: ListPlan) => {
    plans.push(plan);
    return Promise.resolve([]);
  };
  return { plans, samplesOf: createRuleSamples({ ...source, store: { list } }) };
}

test('finds the logs of a group, whatever its keys and values', async () => {
  const { plans, samplesOf } = openSamples();
  const rule = { ...counting, query: 'a OR b', by: 'host, label.my key,404.rate' };
  // An alert has no empty label, here that of the host.
  const labels = { label_my_key: 'two\nlines of "text"', _404_rate: '1' };
  await samplesOf(owner, rule, { labels, annotations: {} }, originMs);
  const { equal, labels: pairs } = plans[0]!.filter;
  assert.deepEqual([...equal], [['host', ['']]]);
  assert.deepEqual(pairs, [
    { key: 'my key', value: labels.label_my_key },
    { key: '404.rate', value: '1' },
  ]);
});

test('finds the logs of a group beside a query that ends with a parenthesis', async () => {
  const { plans, samplesOf } = openSamples();
  const rule = { ...counting, query: 'main(', by: 'service' };
  await samplesOf(owner, rule, { labels: { service: 'shop' }, annotations: {} }, originMs);
  const { equal, search } = plans[0]!.filter;
  assert.deepEqual([...equal], [['serviceName', ['shop']]]);
  assert.deepEqual(search, [{ text: 'main(', exclude: false }]);
});

test('finds the logs of a group whose labels the rule replaced', async () => {
  const { plans, samplesOf } = openSamples();
  const labels = { service: 'shop team', label_id: '7' };
  const replaced = { service: 'checkout' };
  const rule = { ...counting, by: 'service,label.id' };
  await samplesOf(owner, rule, { labels, replaced, annotations: {} }, originMs);
  const { equal, labels: pairs } = plans[0]!.filter;
  assert.deepEqual([...equal], [['serviceName', ['checkout']]]);
  assert.deepEqual(pairs, [{ key: 'id', value: '7' }]);
});
