/** The stream API, line by line of the specification: sections 2, 4.2, 5, 7 and 8. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Answer } from '../harness/http.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Parameters, Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
const start = Date.parse('2026-03-01T00:00:00.000Z');
const total = 120;

/** One event a second from `start` on, every field in two or more values. */
const events = Array.from({ length: total }, (_, index) => ({
  message: `event number ${index} ${index % 3 === 0 ? 'Übergabe fizz' : 'plain'}`,
  severity: ['INFO', 'WARN', 'ERROR'][index % 3],
  service_name: `service-${index % 4}`,
  service_namespace: `space-${index % 2}`,
  host: `host-${index % 5}`,
  timestamp: new Date(start + index * 1_000).toISOString(),
  labels: {
    parity: index % 2 === 0 ? 'even' : 'odd',
    'a:b': 'c:d',
    'k8s.cluster.name': `cluster-${index % 2}`,
    'k8s.namespace.name': `namespace-${index % 3}`,
    'k8s.node.name': `node-${index % 4}`,
    'k8s.pod.name': `pod-${index % 5}`,
    'k8s.container.name': `container-${index % 6}`,
    'k8s.deployment.name': `deployment-${index % 7}`,
  },
}));
const window = {
  startTime: new Date(start).toISOString(),
  endTime: new Date(start + total * 1_000).toISOString(),
};

before(async () => {
  service = await joinService();
  const answer = await service.postLogs(events);
  assert.equal(answer.status, 202, answer.text);
  await until(async () => (await service.histogram(window)).total === total, {
    what: 'all events to be readable',
  });
});
after(() => service.stop());

const problemOf = (answer: Answer) => answer.json<{ code: string; detail: string }>();

suite('2: a log record and the answer around it', () => {
  test('a record has every field', async () => {
    const page = await service.list({ limit: 1 });
    const { logId, timestamp, observedTimestamp, ...rest } = page.logs[0] ?? assert.fail('no log');
    const { labels: kept, ...expected } = {
      timestampNanos: `${start + 119_000}000000`,
      streamId: service.quickstart.streamId,
      receiverId: service.quickstart.receivers.http_json.receiverId,
      severity: 'ERROR',
      severityNumber: 17,
      message: 'event number 119 plain',
      serviceName: 'service-3',
      serviceNamespace: 'space-1',
      host: 'host-4',
      labels: events[119]?.labels,
      kubernetes: {
        cluster: 'cluster-1',
        namespace: 'namespace-2',
        node: 'node-3',
        pod: 'pod-4',
        container: 'container-5',
        deployment: 'deployment-0',
      },
      traceId: '',
      spanId: '',
      traceFlags: 0,
      eventName: '',
      scope: { name: '', version: '' },
    };
    const { labels, receivedAt, ...others } = rest;
    assert.deepEqual(others, expected);
    assert.equal(labels['parity'], kept?.parity);
    assert.equal(timestamp, new Date(start + 119_000).toISOString());
    for (const time of [observedTimestamp, receivedAt]) {
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    assert.match(logId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('the cursor is a timestamp with milliseconds and a UUID', async () => {
    const { cursor, newest, logs } = await service.list({ limit: 10 });
    assert.deepEqual(cursor, { timestamp: logs[9]?.timestamp, logId: logs[9]?.logId });
    assert.deepEqual(newest, { timestamp: logs[0]?.timestamp, logId: logs[0]?.logId });
    assert.match(cursor.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('an empty page returns the cursor unchanged', async () => {
    const page = await service.list({ search: 'nobody-said-this', sinceTime: window.startTime });
    assert.deepEqual(page.logs, []);
    assert.equal(page.cursor.timestamp, window.startTime);
    assert.equal(page.cursor.logId, '00000000-0000-0000-0000-000000000000');
  });
});

suite('4.2: GET /logs', () => {
  const matching = (keep: (index: number) => boolean) =>
    events.flatMap(({ message }, index) => (keep(index) ? [message] : [])).reverse();
  const cases: readonly (readonly [string, Parameters, (index: number) => boolean])[] = [
    ['nothing', {}, () => true],
    ['search', { search: 'fizz' }, (i) => i % 3 === 0],
    ['search without case', { search: 'ÜBERGABE' }, (i) => i % 3 === 0],
    ['search for several words', { search: 'plain number' }, (i) => i % 3 !== 0],
    ['search for a phrase', { search: '"number 11 "' }, (i) => i === 11],
    ['search that excludes', { search: 'event -fizz' }, (i) => i % 3 !== 0],
    ['sinceTime', { sinceTime: new Date(start + 100_000).toISOString() }, (i) => i >= 100],
    ['untilTime', { untilTime: new Date(start + 100_000).toISOString() }, (i) => i < 100],
    [
      'epoch ms',
      { sinceTime: start + 50_000, untilTime: start + 60_000 },
      (i) => i >= 50 && i < 60,
    ],
    [
      'Unix seconds',
      { sinceTime: (start + 50_000) / 1000, untilTime: (start + 60_000) / 1000 },
      (i) => i >= 50 && i < 60,
    ],
    ['severity', { severity: 'WARN' }, (i) => i % 3 === 1],
    ['severity without case', { severity: 'warn' }, (i) => i % 3 === 1],
    ['two severities', { severity: ['INFO', 'WARN'] }, (i) => i % 3 !== 2],
    ['host', { host: 'host-2' }, (i) => i % 5 === 2],
    ['serviceName', { serviceName: 'service-1' }, (i) => i % 4 === 1],
    ['serviceNamespace', { serviceNamespace: 'space-0' }, (i) => i % 2 === 0],
    ['label', { label: 'parity:odd' }, (i) => i % 2 === 1],
    ['a label value with a colon', { label: 'a:b:c:d' }, () => false],
    ['two labels', { label: ['parity:odd', 'k8s.pod.name:pod-1'] }, (i) => i % 10 === 1],
    ['contradicting labels', { label: ['parity:odd', 'parity:even'] }, () => false],
    ['k8sCluster', { k8sCluster: 'cluster-1' }, (i) => i % 2 === 1],
    ['k8sNamespace', { k8sNamespace: 'namespace-1' }, (i) => i % 3 === 1],
    ['k8sNode', { k8sNode: 'node-1' }, (i) => i % 4 === 1],
    ['k8sPod', { k8sPod: 'pod-1' }, (i) => i % 5 === 1],
    ['k8sContainer', { k8sContainer: 'container-1' }, (i) => i % 6 === 1],
    ['k8sDeployment', { k8sDeployment: 'deployment-1' }, (i) => i % 7 === 1],
    ['several filters', { host: 'host-0', severity: 'INFO' }, (i) => i % 15 === 0],
  ];
  for (const [name, parameters, keep] of cases) {
    test(`${name} narrows the list, newest first; histogram and facets agree`, async () => {
      const expected = matching(keep);
      const { logs } = await service.list({ ...parameters, limit: 1_000 });
      assert.deepEqual(
        logs.map(({ message }) => message),
        expected,
      );
      const { sinceTime, untilTime, ...filters } = parameters;
      const histogram = await service.histogram({
        ...filters,
        startTime: String(sinceTime ?? window.startTime),
        endTime: String(untilTime ?? window.endTime),
      });
      assert.equal(histogram.total, expected.length);
      const facet = await service.facet('severity', parameters);
      assert.equal(facet.total, expected.length);
    });
  }

  test('streamId names the stream, or one of the account is not found', async () => {
    const { streamId } = service.quickstart;
    assert.equal((await service.list({ streamId, limit: 1 })).logs.length, 1);
    const unknown = await service.read('/logs', {
      streamId: '11111111-2222-4333-8444-555555555555',
    });
    assert.equal(unknown.status, 404, unknown.text);
    const malformed = await service.read('/logs', { streamId: 'x' });
    assert.equal(malformed.status, 400, malformed.text);
  });

  test('limit is 1 to 1000, and 100 by default', async () => {
    assert.equal((await service.list()).logs.length, 100);
    assert.equal((await service.list({ limit: 1 })).logs.length, 1);
    assert.equal((await service.list({ limit: 1_000 })).logs.length, total);
    for (const limit of ['0', '1001', '-1', '1.5', 'x', '']) {
      const answer = await service.read('/logs', { limit });
      assert.equal(answer.status, 400, `${limit}: ${answer.text}`);
      assert.match(problemOf(answer).detail, /limit/);
    }
  });

  test('a wrong or unknown parameter is 400 and named, an unknown one with the known', async () => {
    const wrong: readonly (readonly [Parameters, RegExp])[] = [
      [{ sinceTime: 'yesterday' }, /sinceTime/],
      [{ label: 'no-colon' }, /label/],
      [{ cursor: 'x' }, /cursor/],
      [{ since: 'x' }, /since/],
      [{ severty: 'INFO' }, /severty[\s\S]*severity/],
      [{ limit: ['1', '2'] }, /limit/],
      [{ search: ['a', 'b'] }, /search/],
    ];
    for (const [parameters, named] of wrong) {
      const answer = await service.read('/logs', parameters);
      assert.equal(answer.status, 400, `${JSON.stringify(parameters)}: ${answer.text}`);
      assert.match(answer.text, named);
    }
  });

  test('cursor and since at once are 400', async () => {
    const { cursor } = await service.list({ limit: 1 });
    const position = `${cursor.timestamp},${cursor.logId}`;
    const answer = await service.read('/logs', { cursor: position, since: position });
    assert.equal(answer.status, 400, answer.text);
  });

  test('a cursor may be given as the JSON object itself', async () => {
    const { cursor, logs } = await service.list({ limit: 5 });
    const page = await service.list({ limit: 5, cursor: JSON.stringify(cursor) });
    const both = await service.list({ limit: 10 });
    assert.deepEqual([...logs, ...page.logs], both.logs);
  });
});

suite('4.2: GET /histogram', () => {
  test('60 buckets by default, from startTime, half-open, zero counts included', async () => {
    const { buckets, total: sum } = await service.histogram(window);
    assert.equal(buckets.length, 60);
    assert.equal(buckets[0]?.startTime, window.startTime);
    assert.equal(buckets[59]?.endTime, window.endTime);
    assert.ok(buckets.every(({ count }) => count === 2));
    assert.equal(sum, total);
    const empty = await service.histogram({
      startTime: '2020-01-01T00:00:00Z',
      endTime: '2020-01-02T00:00:00Z',
      buckets: 7,
    });
    assert.deepEqual(
      empty.buckets.map(({ count }) => count),
      [0, 0, 0, 0, 0, 0, 0],
    );
  });

  test('the interval excludes its end and includes its start', async () => {
    const { buckets } = await service.histogram({
      startTime: start,
      endTime: start + 10_000,
      buckets: 10,
    });
    assert.deepEqual(
      buckets.map(({ count }) => count),
      Array.from({ length: 10 }, () => 1),
    );
  });

  test('edges of a range that does not divide are floored and touch', async () => {
    const { buckets } = await service.histogram({
      startTime: start,
      endTime: start + 1_000,
      buckets: 7,
    });
    const edges = buckets.map(({ startTime }) => Date.parse(startTime) - start);
    assert.deepEqual(edges, [0, 142, 285, 428, 571, 714, 857]);
    for (const [index, { endTime }] of buckets.slice(0, -1).entries()) {
      assert.equal(endTime, buckets[index + 1]?.startTime);
    }
  });

  test('at most 500 buckets, both times required, in order', async () => {
    assert.equal((await service.histogram({ ...window, buckets: 500 })).buckets.length, 500);
    const cases: readonly Parameters[] = [
      { ...window, buckets: 501 },
      { ...window, buckets: 0 },
      { startTime: window.startTime },
      { endTime: window.endTime },
      { startTime: window.endTime, endTime: window.startTime },
      { startTime: 'soon', endTime: window.endTime },
    ];
    for (const parameters of cases) {
      const answer = await service.read('/histogram', parameters);
      assert.equal(answer.status, 400, `${JSON.stringify(parameters)}: ${answer.text}`);
    }
  });
});

suite('4.2: GET /facets and /facets/batch', () => {
  const counted = (values: readonly { value: string; count: number }[]) =>
    new Map(values.map(({ value, count }) => [value, count]));

  test('each field counts its values, and its name is echoed as asked', async () => {
    const sizes = {
      severity: 3,
      host: 5,
      service: 4,
      service_name: 4,
      serviceName: 4,
      serviceNamespace: 2,
      stream: 1,
      k8sCluster: 2,
      k8sNamespace: 3,
      k8sNode: 4,
      k8sPod: 5,
      k8sContainer: 6,
      k8sDeployment: 7,
    };
    for (const [field, size] of Object.entries(sizes)) {
      const facet = await service.facet(field);
      assert.equal(facet.field, field);
      assert.equal(facet.values.length, size, field);
      const sum = facet.values.reduce((all, { count }) => all + count, 0);
      assert.deepEqual({ sum, other: facet.other, total: facet.total }, { sum, other: 0, total });
      assert.equal(sum, total);
    }
  });

  test('values come by count, and the rest is in other', async () => {
    const facet = await service.facet('k8sDeployment', { topK: 2 });
    assert.equal(facet.values.length, 2);
    const kept = facet.values.reduce((all, { count }) => all + count, 0);
    assert.equal(kept + facet.other, facet.total);
    assert.equal(facet.total, total);
  });

  test('topK is 1 to 100', async () => {
    assert.equal((await service.read('/facets', { field: 'host', topK: 100 })).status, 200);
    for (const topK of [0, 101, -1, 'x']) {
      const answer = await service.read('/facets', { field: 'host', topK });
      assert.equal(answer.status, 400, `${topK}: ${answer.text}`);
    }
  });

  test('a failed facet request is an error, never an empty success', async () => {
    const cases: readonly (readonly [string, Parameters])[] = [
      ['/facets', {}],
      ['/facets', { field: 'colour' }],
      ['/facets', { field: '' }],
      ['/facets', { field: 'host', sinceTime: 'x' }],
      ['/facets/batch', {}],
      ['/facets/batch', { fields: '' }],
      ['/facets/batch', { fields: 'host,colour' }],
    ];
    for (const [path, parameters] of cases) {
      const answer = await service.read(path, parameters);
      assert.equal(answer.status, 400, `${path} ${JSON.stringify(parameters)}: ${answer.text}`);
    }
  });

  test('a batch answers each field as the single route does, in the order asked', async () => {
    const answer = await service.read('/facets/batch', { fields: 'host,severity', topK: 3 });
    assert.equal(answer.status, 200, answer.text);
    const { facets } = answer.json<{ facets: Awaited<ReturnType<Service['facet']>>[] }>();
    assert.deepEqual(
      facets.map(({ field }) => field),
      ['host', 'severity'],
    );
    const single = await service.facet('severity', { topK: 3 });
    assert.deepEqual(counted(facets[1]?.values ?? []), counted(single.values));
    assert.equal(facets[1]?.total, single.total);
  });
});

suite('7: status codes of the stream API', () => {
  test('an unknown route is 404, another method is 405', async () => {
    const { streamUrl, accessToken, accountId } = service.quickstart;
    const headers = { authorization: `Bearer ${accessToken}`, 'x-active-account': accountId };
    const unknown = await service.read('/nothing');
    assert.equal(unknown.status, 404, unknown.text);
    const posted = await service.http.send(`${streamUrl}/api/v1/logs`, { method: 'POST', headers });
    assert.equal(posted.status, 405, posted.text);
  });

  test('errors are problem+json and never cached', async () => {
    const answer = await service.read('/logs', { limit: 0 });
    assert.match(answer.headers['content-type'] ?? '', /^application\/problem\+json/);
    assert.match(answer.headers['cache-control'] ?? '', /private.*no-store/);
    assert.ok(problemOf(answer).code.length > 0);
  });
});
