/** What differs between two ranges or two queries, against a plain array. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chiSquareTail, gStatistic } from '../../src/stream/differences.ts';
import { joinService } from '../harness/joined-service.ts';
import { createRandom } from '../harness/random.ts';
import type { Parameters, Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

interface Side {
  readonly startTime: string;
  readonly endTime: string;
  readonly sampled: number;
  readonly total: number;
}

interface Comparison {
  readonly differences: readonly {
    readonly field: string;
    readonly value: string;
    readonly query: string;
    readonly count: number;
    readonly baselineCount: number;
    readonly share: number;
    readonly baselineShare: number;
    readonly effect: number;
    readonly g: number;
    readonly p: number;
  }[];
  readonly selection: Side;
  readonly baseline: Side;
  readonly tested: number;
  readonly exact: boolean;
}

const startMs = Date.now() - 1_200_000;
const at = (seconds: number) => new Date(startMs + seconds * 1_000).toISOString();
const random = createRandom(7);
const baselineSeconds = 500;
const range = { sinceTime: at(baselineSeconds), untilTime: at(2 * baselineSeconds) };

/** Two logs a second; from the middle on, failures of one version. */
const logs = Array.from({ length: 4 * baselineSeconds }, (_, i) => {
  const isLater = i >= 2 * baselineSeconds;
  const isNew = isLater && random.integer(0, 3) === 0;
  const isFailed = isNew && random.integer(0, 2) > 0;
  return {
    timestamp: at(i / 2),
    message: `request ${i}`,
    severity: isFailed ? 'ERROR' : random.pick(['INFO', 'INFO', 'WARN']),
    service_name: random.pick(['shop', 'cart']),
    host: random.pick(['h1', 'h2', 'h3', '']),
    labels: {
      version: isNew ? '2.0' : '1.9',
      zone: random.pick(['a "quoted" zone', 'b', 'c']),
      request_id: `r-${i}`,
      ...(isFailed && { 'error type': 'timeout' }),
    },
  };
});
type Log = (typeof logs)[0];

let service: Service;
before(async () => {
  service = await joinService();
  assert.equal((await service.postLogs(logs)).status, 202);
  const isStored = async () => (await service.facet('severity')).total === logs.length;
  await until(isStored, { what: 'all logs' });
});
after(() => service.stop());

async function read(parameters: Parameters): Promise<Comparison> {
  const answer = await service.read('/compare', parameters);
  assert.equal(answer.status, 200, answer.text);
  return answer.json<Comparison>();
}

function pairsOf({ severity, service_name, host, labels }: Log): [string, string][] {
  const fields = Object.entries({ severity, service: service_name, host });
  return [
    ...fields.filter(([, value]) => value !== ''),
    ...Object.entries(labels).map(([key, value]): [string, string] => [`label.${key}`, value]),
  ];
}

/** All values in order of effect. */
function expected(selection: readonly Log[], baseline: readonly Log[], tested: number) {
  const sizes = [selection.length, baseline.length] as const;
  const counts = new Map<string, [number, number]>();
  for (const [side, own] of [selection, baseline].entries()) {
    for (const pair of own.flatMap(pairsOf)) {
      const key = JSON.stringify(pair);
      const count = counts.get(key) ?? [0, 0];
      count[side]! += 1;
      counts.set(key, count);
    }
  }
  return [...counts]
    .map(([key, count]) => {
      const [field, value] = JSON.parse(key) as [string, string];
      const g = gStatistic(count, sizes);
      const isMore = count[0] / sizes[0] > count[1] / sizes[1];
      return { field, value, count: count[0], baselineCount: count[1], g, isMore };
    })
    .filter(({ g }) => chiSquareTail(g) * tested < 0.05)
    .sort(
      (a, b) =>
        Math.round((b.g - a.g) * 1e6) ||
        Number(b.isMore) - Number(a.isMore) ||
        (`${a.field}\n${a.value}` < `${b.field}\n${b.value}` ? -1 : 1),
    );
}

const earlier = logs.slice(0, 2 * baselineSeconds);
const later = logs.slice(2 * baselineSeconds);

test('differences from the time before agree with the array', async () => {
  const { differences, ...rest } = await read(range);
  const wanted = expected(later, earlier, rest.tested);
  const perField = Map.groupBy(wanted, ({ field }) => field);
  const listed = wanted.filter((one) => perField.get(one.field)!.indexOf(one) < 3);
  assert.deepEqual(
    differences.map(({ field, count, baselineCount }) => ({ field, count, baselineCount })),
    listed.map(({ field, count, baselineCount }) => ({ field, count, baselineCount })),
  );
  for (const { field, value, g, share, baselineShare, count, baselineCount } of differences) {
    const same = listed.find((one) => one.field === field && one.value === value);
    assert.ok(same !== undefined && Math.abs(same.g - g) < 1e-6, `${field} ${value} ${g}`);
    assert.equal(share, count / later.length);
    assert.equal(baselineShare, baselineCount / earlier.length);
  }
  assert.equal(differences[0]!.field, 'label.version');
  assert.ok(differences.some(({ field }) => field === 'label.error type'));
  assert.equal(rest.exact, true);
  assert.deepEqual([rest.selection.total, rest.baseline.total], [later.length, earlier.length]);
  assert.deepEqual([rest.baseline.startTime, rest.baseline.endTime], [at(0), range.sinceTime]);
});

test('ids are not compared, and each query finds its logs', async () => {
  const { differences, tested } = await read({ ...range, limit: 100 });
  // Severities, services, hosts, versions, zones, the error, stream and receiver.
  assert.equal(tested, 3 + 2 + 3 + 2 + 3 + 1 + 1 + 1);
  assert.ok(differences.every(({ field }) => field !== 'label.request_id'));
  for (const { query, count } of differences) {
    const counted = await service.read('/histogram', {
      startTime: range.sinceTime,
      endTime: range.untilTime,
      buckets: 1,
      query,
    });
    assert.equal(counted.json<{ total: number }>().total, count, query);
  }
});

test('two queries are compared in one range, without the fields that they name', async () => {
  const query = 'severity:error';
  const { differences, selection, baseline, tested } = await read({
    ...range,
    query,
    baselineQuery: `-(${query})`,
  });
  const failed = later.filter(({ severity }) => severity === 'ERROR');
  const others = later.filter(({ severity }) => severity !== 'ERROR');
  assert.deepEqual([selection.total, baseline.total], [failed.length, others.length]);
  assert.deepEqual([selection.startTime, baseline.startTime], [range.sinceTime, range.sinceTime]);
  assert.deepEqual(
    differences.map(({ field, count, baselineCount }) => [field, count, baselineCount]),
    expected(failed, others, tested)
      .filter(({ field }) => field !== 'severity')
      .map(({ field, count, baselineCount }) => [field, count, baselineCount]),
  );
});

test('the baseline has a range of its own', async () => {
  const { baseline } = await read({ ...range, baselineFrom: at(0), baselineTo: at(100) });
  assert.deepEqual([baseline.total, baseline.endTime], [200, at(100)]);
  const untilRange = await read({ ...range, baselineTo: at(500) });
  assert.equal(untilRange.baseline.startTime, at(0));
  const refused = await service.read('/compare', {
    ...range,
    baselineFrom: at(9),
    baselineTo: at(9),
  });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /baselineTo must be after baselineFrom/);
});

test('equal shares and empty ranges differ in nothing', async () => {
  const same = await read({ ...range, baselineFrom: range.sinceTime });
  assert.deepEqual(same.differences, []);
  const none = await read({ sinceTime: '2001-01-01T00:00:00Z', untilTime: '2001-01-02T00:00:00Z' });
  assert.deepEqual([none.differences, none.exact, none.selection.total], [[], true, 0]);
});

test('many logs are sampled on both sides', async () => {
  const hours = 10;
  const count = 60_000;
  const fromMs = startMs - 20 * 3_600_000;
  const timeOf = (i: number) => new Date(fromMs + i * ((hours * 3_600_000) / count)).toISOString();
  for (let first = 0; first < count; first += 10_000) {
    const events = Array.from({ length: 10_000 }, (_, i) => ({
      timestamp: timeOf(first + i),
      message: `tick ${first + i}`,
      service_name: 'clock',
      labels: { half: first + i < count / 2 ? 'first' : 'second', even: String(i % 2 === 0) },
    }));
    assert.equal((await service.postLogs(events)).status, 202);
  }
  const half = { sinceTime: timeOf(count / 2), untilTime: timeOf(count), serviceName: 'clock' };
  await until(async () => (await read(half)).selection.total === count / 2, { what: 'all ticks' });
  const { differences, selection, baseline, exact } = await read(half);
  assert.equal(exact, false);
  for (const { sampled, total } of [selection, baseline]) {
    assert.equal(total, count / 2);
    assert.ok(sampled > 10_000 && sampled <= 30_000, `${sampled} sampled`);
  }
  assert.deepEqual(
    differences.map(({ field, value, share, baselineShare }) => [
      field,
      value,
      share,
      baselineShare,
    ]),
    [
      ['label.half', 'second', 1, 0],
      ['label.half', 'first', 0, 1],
    ],
  );
});
