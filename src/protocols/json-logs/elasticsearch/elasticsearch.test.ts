/** Bulk requests of Elasticsearch: actions, documents, and the items of the answer. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { configSchema } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import { blankSeriesView } from '../../../../test/harness/blank-series-view.ts';
import { countTurns } from '../../../../test/harness/count-turns.ts';
import { readLogRows } from '../../../../test/protocols/read-log-rows.ts';
import { createElasticsearch } from './elasticsearch.ts';

const [elasticsearch] = createElasticsearch(configSchema.parse({}));
const format = {
  mediaType: 'application/x-ndjson',
  parameters: new Map<string, string>(),
  coding: 'identity',
} as const;

interface Answer {
  readonly errors: boolean;
  readonly items: readonly Readonly<
    Record<string, { status: number; _index?: string; error?: { type: string; reason: string } }>
  >[];
}

async function decode(body: string | Buffer, index?: string): Promise<Batch> {
  return elasticsearch.decode(Buffer.from(body), format, {
    limits: elasticsearch.limits,
    nowMs: 0,
    series: blankSeriesView,
    target: { path: { index }, query: new URLSearchParams() },
  });
}

function answerTo(batch: Batch): Answer {
  return JSON.parse(String(elasticsearch.reply(batch, format).body)) as Answer;
}

async function rowOf(document: object, action: object = { create: {} }) {
  const batch = await decode(`${JSON.stringify(action)}\n${JSON.stringify(document)}\n`);
  assert.equal(batch.rejectedCount, 0, JSON.stringify(batch.rejected));
  return readLogRows(batch.payload)[0]!;
}

test('a document of Filebeat', async () => {
  const row = await rowOf(
    {
      '@timestamp': '2026-11-22T10:00:00.123Z',
      message: 'slöw',
      log: { level: 'warn', file: { path: '/var/log/a' } },
      service: { name: 'shop' },
      host: { name: 'web-1', os: { family: 'debian' } },
      trace: { id: '0af7651916cd43dd8448eb211c80319c' },
      error: { stack_trace: 'at a\nat b' },
      kubernetes: { pod: { name: 'p' }, namespace: 'n' },
      agent: { type: 'filebeat' },
      event: { dataset: 'shop.log' },
      tags: ['a'],
    },
    { create: { _index: 'logs-shop-default', _id: 'x1' } },
  );
  assert.deepEqual(
    [row.body, row.severityText, row.serviceName, row.host, row.k8sPod, row.k8sNamespace],
    ['slöw', 'WARN', 'shop', 'web-1', 'p', 'n'],
  );
  assert.equal(row.timestamp, 1_795_341_600_123_000_000n);
  assert.equal(row.traceId, '0af7651916cd43dd8448eb211c80319c');
  assert.deepEqual(
    row.logAttributes,
    new Map([
      ['log.file.path', '/var/log/a'],
      ['host.os.family', 'debian'],
      ['error.stack_trace', 'at a\nat b'],
      ['kubernetes.pod.name', 'p'],
      ['kubernetes.namespace', 'n'],
      ['agent.type', 'filebeat'],
      ['event.dataset', 'shop.log'],
      ['tags', '["a"]'],
      ['_index', 'logs-shop-default'],
      ['_id', 'x1'],
    ]),
  );
});

test('a document of the OpenTelemetry Collector', async () => {
  const row = await rowOf({
    '@timestamp': '1795341600123.456789',
    body: { text: 'slow' },
    severity_text: 'WARN',
    severity_number: 13,
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    attributes: { 'order.id': 7 },
    resource: { attributes: { 'service.name': 'shop', 'host.name': 'web-1' } },
  });
  assert.deepEqual(
    [row.body, row.severityText, row.serviceName, row.host],
    ['slow', 'WARN', 'shop', 'web-1'],
  );
  assert.equal(row.timestamp, 1_795_341_600_123_456_789n);
  assert.equal(row.traceId, '0af7651916cd43dd8448eb211c80319c');
});

test('text that is not UTF-8 is repaired', async () => {
  const batch = await decode(Buffer.from('{"create":{}}\n{"message":"caf\xe9"}\n', 'latin1'));
  assert.equal(readLogRows(batch.payload)[0]?.body, 'caf\ufffd');
  assert.equal(batch.warnings?.size, 1);
});

suite('no document is rejected for its fields', () => {
  const cases: [document: object, message: string][] = [
    [{ cpu: { load: 1 } }, '{"cpu":{"load":1}}'],
    [{ message: { a: 1 } }, '{"message":{"a":1}}'],
    [{ message: 7, severity: 3, host: { ip: '::1' }, labels: 'x', service_name: 1 }, '7'],
    [{ error: { message: 'boom' } }, 'boom'],
    [{ message: '' }, ''],
  ];
  for (const [document, message] of cases) {
    test(JSON.stringify(document), async () => assert.equal((await rowOf(document)).body, message));
  }

  test('fields of another shape stay labels', async () => {
    const { host, logAttributes, severityText } = await rowOf({
      message: 'a',
      severity: 3,
      host: { ip: '::1' },
      labels: 'x',
    });
    assert.deepEqual([host, severityText], ['', '3']);
    assert.deepEqual(
      logAttributes,
      new Map([
        ['host.ip', '::1'],
        ['labels', 'x'],
      ]),
    );
  });
});

test('each item says what became of its action', async () => {
  const batch = await decode(
    [
      '{"create":{"_index":"a"}}',
      '{"message":"1"}',
      '{ "index" : { "_index" : "b", "_id" : "\\u00e9" } }\r',
      '{"message":"2"}\r',
      '',
      '{"delete":{"_index":"a","_id":"1"}}',
      '{"update":{"_index":"a","_id":"1"}}',
      '{"doc":{}}',
      '{"create":{"_index":"a"}}',
      '{"message":',
      '{"create":{"_index":"a"}}',
      '{"message":"x"} {"message":"y"}',
      '{"create":{"_index":"a"}}',
      '"text"',
      '{"create":{}}',
      '{"message":"3"}',
    ].join('\n'),
    'of-the-path',
  );
  assert.deepEqual(
    readLogRows(batch.payload).map(({ body, logAttributes }) => [
      body,
      (logAttributes as ReadonlyMap<string, string>).get('_index'),
    ]),
    [
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'of-the-path'],
    ],
  );
  const { errors, items } = answerTo(batch);
  assert.equal(errors, true);
  assert.deepEqual(
    items.map((item) => Object.entries(item).map(([name, { status }]) => `${name} ${status}`)[0]),
    [
      'create 201',
      'index 201',
      'delete 400',
      'update 400',
      'create 400',
      'create 400',
      'create 400',
      'create 201',
    ],
  );
  assert.equal(items[1]?.['index']?._index, 'b');
  assert.match(items[2]?.['delete']?.error?.reason ?? '', /^only create and index .*: line 6$/);
  assert.match(items[4]?.['create']?.error?.reason ?? '', /^not JSON: line 10: cannot parse JSON/);
  assert.match(items[5]?.['create']?.error?.reason ?? '', /^not JSON: line 12: .* in one line$/);
  assert.equal(batch.rejectedCount, 5);
});

test('blank lines take time linear in their number', async () => {
  for (const blank of ['\n', ' \r\n']) {
    const body = `${blank.repeat(500_000)}{"create":{}}\n{"message":"a"}\n`;
    const startedAt = process.cpuUsage();
    assert.equal((await decode(body)).rows, 1);
    // Quadratic time would be minutes.
    assert.ok(process.cpuUsage(startedAt).user < 5e6);
  }
});

test('other requests have a turn between documents that are not JSON', async () => {
  assert.ok((await countTurns(() => decode('{"create":{}}\n{"a":\n'.repeat(1000)))) > 10);
});

test('an answer without errors says so', async () => {
  const body = '{"create":{}}\n{"message":"a"}\n'.repeat(3);
  const { errors, items } = answerTo(await decode(body));
  assert.equal(errors, false);
  assert.equal(items.length, 3);
});

suite('refuses as a whole', () => {
  const cases: [name: string, body: string | Buffer, message: RegExp][] = [
    ['an empty body', '\n', /the request is empty/],
    ['no action', '{"message":"a"}\n', /cannot read the action in line 1/],
    ['an action in the place of a document', '{"create":{}}\n{}\n{}\n', /the action in line 3/],
    ['an action without a document', '{"create":{}}\n', /the document of the action in line 1/],
    ['another action', '{"drop":{}}\n{}\n', /cannot read the action in line 1/],
    ['a long index', `{"create":{"_index":"${'x'.repeat(256)}"}}\n{}\n`, /_index has over 255/],
    ['a long action', `{"create":{"a":"${'x'.repeat(5000)}"}}\n{}\n`, /over 4096 bytes/],
  ];
  for (const [name, body, message] of cases) {
    test(name, () => assert.rejects(decode(body), { code: 'malformed', message }));
  }

  test('more actions than the limit', async () => {
    const body = '{"delete":{}}\n'.repeat(elasticsearch.limits.maxEvents + 1);
    await assert.rejects(decode(body), { code: 'too_large' });
  });
});
