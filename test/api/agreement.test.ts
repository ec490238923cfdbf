/**
 * List, histogram and facets count the same logs for the same filters, equal to the posted logs.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRandom } from '../harness/random.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Parameters, Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

test('a posted log appears in list, histogram and facets', async () => {
  const sentAt = Date.now();
  const answer = await service.postLogs({
    message: 'from a curl to a query',
    severity: 'warn',
    service_name: 'checkout',
    host: 'till-1',
    labels: { city: 'Basel' },
  });
  assert.equal(answer.status, 202, answer.text);
  const filters = { serviceName: 'checkout', label: 'city:Basel' };
  const log = await until(async () => (await service.list(filters)).logs.at(0), {
    what: 'the log to be readable',
  });
  assert.equal(log.message, 'from a curl to a query');
  assert.equal(log.severity, 'WARN');
  assert.equal(log.host, 'till-1');
  assert.deepEqual(log.labels, { city: 'Basel' });
  const window = { startTime: sentAt - 60_000, endTime: sentAt + 60_000 };
  assert.equal((await service.histogram({ ...filters, ...window })).total, 1);
  const { values, total } = await service.facet('severity', filters);
  assert.deepEqual({ values, total }, { values: [{ value: 'WARN', count: 1 }], total: 1 });
});

test('random filters over random logs agree with a model', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
  t.diagnostic(`replay with SEED=${seed}`);
  const random = createRandom(seed);
  const start = Date.parse('2026-04-01T00:00:00Z');
  const words = [
    'alpha',
    'beta',
    'gamma',
    'Delta',
    'straße',
    '100%',
    'under_score',
    "quo'te",
  ] as const;
  const events = Array.from({ length: 1_500 }, () => ({
    message: `${random.pick(words)} ${random.pick(words)} ${random.pick(words)}`,
    severity: random.pick(['INFO', 'Warn', 'WARNING', 'ERROR', 'Crit', 'Trace', 'audit', '']),
    service_name: random.pick(['model-a', 'model-b', 'model-c']),
    host: random.pick(['h1', 'h2', '', "h'4"]),
    timestamp: new Date(start + random.integer(0, 3_600_000)).toISOString(),
    labels: { colour: random.pick(['red', 'blue', 'a:b']), tier: random.pick(['1', '2']) },
  }));
  const service_ = ['model-a', 'model-b', 'model-c'];
  await service.postLogs(events);
  await until(
    async () => (await service.facet('host', { serviceName: service_ })).total === events.length,
    { what: 'the model’s logs to be readable' },
  );

  for (let round = 0; round < 15; round++) {
    const from = start + random.integer(-1, 3_000_000);
    const until_ = from + random.integer(1, 3_600_000);
    const severity = random.pick([undefined, 'info', 'WARN', 'err', 'audit']);
    const minSeverity = random.pick([undefined, undefined, 'warn', 'crit'] as const);
    const host = random.pick([undefined, undefined, 'h1', '', "h'4"]);
    const colour = random.pick([undefined, 'red', 'a:b']);
    const word = random.pick([undefined, ...words]);
    const notSeverity = random.pick([undefined, undefined, 'warn', '']);
    const notHost = random.pick([undefined, undefined, '', "h'4"]);
    const notColour = random.pick([undefined, undefined, 'red', 'a:b', 'none']);
    const exclude = [
      ...(notSeverity === undefined ? [] : [`severity:${notSeverity}`]),
      ...(notHost === undefined ? [] : [`host:${notHost}`]),
    ];
    const filters: Parameters = {
      serviceName: service_,
      ...(severity === undefined ? {} : { severity }),
      ...(minSeverity === undefined ? {} : { minSeverity }),
      ...(host === undefined ? {} : { host }),
      ...(colour === undefined ? {} : { label: `colour:${colour}` }),
      ...(word === undefined ? {} : { search: word }),
      ...(exclude.length === 0 ? {} : { exclude }),
      ...(notColour === undefined ? {} : { excludeLabel: `colour:${notColour}` }),
    };
    const expected = events.filter(
      (event) =>
        Date.parse(event.timestamp) >= from &&
        Date.parse(event.timestamp) < until_ &&
        (severity === undefined || levelOf(event.severity) === levelOf(severity)) &&
        (minSeverity === undefined || highWords[minSeverity].includes(event.severity)) &&
        (host === undefined || event.host === host) &&
        (colour === undefined || event.labels.colour === colour) &&
        (notSeverity === undefined || levelOf(event.severity) !== levelOf(notSeverity)) &&
        event.host !== notHost &&
        event.labels.colour !== notColour &&
        (word === undefined || event.message.toLowerCase().includes(word.toLowerCase())),
    ).length;
    const what = JSON.stringify({ ...filters, from, until_ });
    const bounds = { sinceTime: from, untilTime: until_ };
    const histogram = await service.histogram({
      ...filters,
      startTime: from,
      endTime: until_,
      buckets: random.integer(1, 500),
    });
    assert.equal(histogram.total, expected, `histogram ${what}`);
    const counted = histogram.buckets.reduce((sum, { count }) => sum + count, 0);
    assert.equal(counted, expected, `buckets ${what}`);
    const facet = await service.facet('host', { ...filters, ...bounds, topK: 1 });
    assert.equal(facet.total, expected, `facet ${what}`);
    assert.equal(await listCount({ ...filters, ...bounds }), expected, `list ${what}`);
  }
});

const highWords = { warn: ['Warn', 'WARNING', 'ERROR', 'Crit'], crit: ['Crit'] };

function levelOf(word: string): string {
  const synonyms: Readonly<Record<string, string>> = {
    WARNING: 'WARN',
    ERR: 'ERROR',
    CRIT: 'ERROR',
  };
  return synonyms[word.toUpperCase()] ?? word.toUpperCase();
}

test('finds a log by its trace and span in any case', async () => {
  const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';
  const span_id = '00f067aa0ba902b7';
  await service.postLogs([
    { message: 'traced', trace_id, span_id },
    { message: 'not traced', service_name: 'traceless' },
  ]);
  const filters = { traceId: trace_id.toUpperCase(), spanId: span_id };
  const log = await until(async () => (await service.list(filters)).logs.at(0), {
    what: 'the traced log to be readable',
  });
  assert.equal(log.message, 'traced');
  assert.equal((await service.facet('host', filters)).total, 1);
  const others = { exclude: `traceId:${trace_id}`, serviceName: ['', 'traceless'] };
  const { logs } = await service.list(others);
  assert.deepEqual(
    logs.map(({ message }) => message),
    ['not traced'],
  );
});

test('a query finds the same logs in every read', async () => {
  const since = Date.now() - 60_000;
  const posted = [
    { message: 'GET /checkout timeout', severity: 'err', labels: { status: '504', user: 'ann' } },
    { message: 'GET /checkout ok', severity: 'info', labels: { status: '200' } },
    { message: 'GET /health timeout', severity: 'err', labels: { status: '504', user: 'bob' } },
    { message: 'connection reset', severity: 'warn', labels: { status: 'none' } },
  ].map((event) => ({ ...event, service_name: 'queried' }));
  await service.postLogs(posted);
  await until(async () => (await service.list({ query: 'service:queried' })).logs.length === 4, {
    what: 'the logs to be readable',
  });
  const cases: readonly (readonly [query: string, indexes: readonly number[]])[] = [
    ['status:>=500', [0, 2]],
    ['severity>=warn -/health', [0, 3]],
    ['(timeout OR "connection reset") -message:/health$/', [0, 2, 3]],
    ['timeout OR reset', [0, 2, 3]],
    ['get*ok', [1]],
    ['user:* -user:b*', [0]],
    ['NOT _exists_:user status:[100 TO 299]', [1]],
    ['status:(>=500 OR [200 TO 299])', [0, 1, 2]],
    ['user:""', [1, 3]],
    ['-user:""', [0, 2]],
    ['severity<=warn', [1, 3]],
  ];
  const range = { startTime: since, endTime: Date.now() + 60_000 };
  for (const [text, indexes] of cases) {
    const query = `service:queried (${text})`;
    const wanted = indexes.map((index) => posted[index]!.message).sort();
    const { logs } = await service.list({ query });
    assert.deepEqual(logs.map(({ message }) => message).sort(), wanted, query);
    assert.equal((await service.histogram({ query, ...range })).total, wanted.length, query);
    assert.equal((await service.facet('host', { query })).total, wanted.length, query);
    const stats = await service.read('/stats', { query, ...range });
    const { rows } = stats.json<{ rows: { values: { count: number } }[] }>();
    assert.equal(rows[0]?.values.count, wanted.length, query);
    const file = await service.read('/logs/export', { query, sinceTime: since });
    const lines = file.text.split('\n').filter((line) => line !== '');
    const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
    assert.deepEqual(messages.sort(), wanted, query);
  }
  const refused = await service.read('/logs/tail', { query: 'status:>=' });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /cannot read query at position 10: expected a value after status:>=/);
});

async function listCount(parameters: Parameters): Promise<number> {
  let count = 0;
  let page = await service.list({ ...parameters, limit: 400 });
  while (page.logs.length > 0) {
    count += page.logs.length;
    const cursor = `${page.cursor.timestamp},${page.cursor.logId}`;
    page = await service.list({ ...parameters, limit: 400, cursor });
  }
  return count;
}
