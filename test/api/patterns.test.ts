/** Patterns of logs: templates, their counts and queries, over all logs and over a sample. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { joinService } from '../harness/joined-service.ts';
import type { Parameters, Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

interface Patterns {
  readonly patterns: readonly {
    readonly template: string;
    readonly query: string;
    readonly count: number;
    readonly share: number;
    readonly severities: Readonly<Record<string, number>>;
    readonly counts: readonly number[];
    readonly firstSeen: string;
    readonly lastSeen: string;
    readonly sample: { readonly logId: string; readonly message: string };
    readonly variables: readonly {
      readonly name: string;
      readonly values: readonly { readonly value: string; readonly share: number }[];
    }[];
  }[];
  readonly other: number;
  readonly sampled: number;
  readonly total: number;
  readonly exact: boolean;
}

const startMs = Date.now() - 600_000;
const at = (seconds: number) => new Date(startMs + seconds * 1_000).toISOString();
const range = { startTime: at(0), endTime: at(500) };

const requests = Array.from({ length: 300 }, (_, i) => ({
  timestamp: at(i),
  message: `GET /api/orders/${i} took ${i % 7}ms`,
  severity: 'INFO',
  service_name: 'shop',
}));
const failures = Array.from({ length: 30 }, (_, i) => ({
  timestamp: at(200 + i),
  message: `cannot reach gateway "pay-${i % 2}" at 10.0.0.${i}:443\nretry ${i}`,
  severity: i % 3 === 0 ? 'ERROR' : 'WARN',
  service_name: 'checkout',
}));
const odd = [
  { timestamp: at(10), message: 'it\'s 100% "odd" \\ (really?) a/b *[x]* $', severity: 'DEBUG' },
  { timestamp: at(11), message: `long ${'x\u{1F600} '.repeat(400)}end 5`, severity: 'DEBUG' },
];
const all = [...requests, ...failures, ...odd];

let service: Service;
before(async () => {
  service = await joinService();
  assert.equal((await service.postLogs(all)).status, 202);
  const isStored = async () => (await service.facet('severity')).total === all.length;
  await until(isStored, { what: 'all logs' });
});
after(() => service.stop());

async function read(parameters: Parameters): Promise<Patterns> {
  const answer = await service.read('/patterns', parameters);
  assert.equal(answer.status, 200, answer.text);
  return answer.json<Patterns>();
}

test('templates have counts, severities, times, a log and values', async () => {
  const { patterns, ...rest } = await read({ ...range, buckets: 5 });
  const [first, second] = patterns as [Patterns['patterns'][0], Patterns['patterns'][0]];
  assert.equal(first.template, 'GET <path> took <duration>');
  assert.equal(first.count, 300);
  assert.equal(first.share, 300 / all.length);
  assert.deepEqual(first.severities, { INFO: 300 });
  assert.deepEqual(first.counts, [100, 100, 100, 0, 0]);
  assert.equal(first.firstSeen, at(0));
  assert.equal(first.lastSeen, at(299));
  assert.equal(first.sample.message, requests[299]!.message);
  assert.equal(second.template, 'cannot reach gateway "<id>" at <ip>\nretry <number>');
  assert.deepEqual(second.severities, { WARN: 20, ERROR: 10 });
  const gateways = second.variables[0]!.values;
  assert.deepEqual(gateways.map(({ value }) => value).sort(), ['pay-0', 'pay-1']);
  assert.deepEqual(rest.other, 0);
  assert.deepEqual([rest.sampled, rest.total, rest.exact], [all.length, all.length, true]);
});

test('the query of each pattern finds its logs and no others', async () => {
  const { patterns } = await read(range);
  assert.equal(
    patterns.reduce((sum, { count }) => sum + count, 0),
    all.length,
  );
  for (const { query, count, sample } of patterns) {
    const counted = await service.read('/histogram', { ...range, buckets: 1, query });
    assert.equal(counted.json<{ total: number }>().total, count, query);
    const logs = await service.read('/logs', { ...range, query, limit: 1 });
    const [log] = logs.json<{ logs: { logId: string; message: string }[] }>().logs;
    assert.equal(log!.logId, sample.logId);
    assert.ok(log!.message.startsWith(sample.message));
    const others = await service.read('/histogram', { ...range, buckets: 1, query: `-(${query})` });
    assert.equal(others.json<{ total: number }>().total, all.length - count, query);
  }
});

test('filters and queries choose the logs', async () => {
  const { patterns, total } = await read({ ...range, serviceName: 'checkout', query: 'retry' });
  assert.equal(patterns.length, 1);
  assert.equal(total, failures.length);
});

test('the rarer patterns are counted together', async () => {
  const { patterns, other } = await read({ ...range, limit: 1 });
  assert.equal(patterns.length, 1);
  assert.equal(other, all.length - 300);
});

test('a range without logs has no patterns', async () => {
  const { patterns, sampled, total, exact } = await read({
    startTime: '2001-01-01T00:00:00Z',
    endTime: '2001-01-02T00:00:00Z',
  });
  assert.deepEqual(
    { patterns, sampled, total, exact },
    {
      patterns: [],
      sampled: 0,
      total: 0,
      exact: true,
    },
  );
});

test('a large number of logs is sampled over the whole range', async () => {
  const hours = 10;
  const fromMs = startMs - 20 * 3_600_000;
  const count = 60_000;
  const stepMs = (hours * 3_600_000) / count;
  for (let first = 0; first < count; first += 10_000) {
    const events = Array.from({ length: 10_000 }, (_, i) => ({
      timestamp: new Date(fromMs + (first + i) * stepMs).toISOString(),
      message: `tick ${first + i}`,
      service_name: 'clock',
    }));
    assert.equal((await service.postLogs(events)).status, 202);
  }
  const long = {
    startTime: new Date(fromMs).toISOString(),
    endTime: new Date(fromMs + hours * 3_600_000).toISOString(),
  };
  const isStored = async () => {
    const stored = await service.read('/histogram', { ...long, buckets: 1 });
    return stored.json<{ total: number }>().total === count;
  };
  await until(isStored, { what: 'all ticks' });
  const { patterns, sampled, total, exact, other } = await read({ ...long, buckets: 10 });
  assert.equal(total, count);
  assert.equal(exact, false);
  assert.ok(sampled > 25_000 && sampled < count, `${sampled} sampled`);
  assert.deepEqual(
    patterns.map(({ template }) => template),
    ['tick <number>'],
  );
  assert.equal(patterns[0]!.count + other, sampled);
  assert.ok(
    patterns[0]!.counts.every((one) => one > sampled / 40),
    String(patterns[0]!.counts),
  );
});

test('an empty range is refused', async () => {
  const answer = await service.read('/patterns', { startTime: at(5), endTime: at(5) });
  assert.equal(answer.status, 400);
  assert.match(answer.text, /endTime must be after startTime/);
});
