/**
 * OTLP log records sent to the real process as JSON and protobuf and read back
 * (https://opentelemetry.io/docs/specs/otel/logs/data-model, and the JSON mapping of OTLP).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { LogRecord } from '../../src/model/plan.ts';
import { joinService } from '../harness/joined-service.ts';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { type AnyValue, encodeLogsRequest, type KeyValue } from '../protocols/otlp-proto.ts';
import { json, post, protobuf } from './otlp-exchange.ts';

let service: Service;
before(async () => {
  service = await joinService();
});
after(() => service.stop());

type Expected = Partial<LogRecord>;

const traceId = '5b8efff798038103d269b633813fc60c';
const spanId = 'eee19b7ec3c1b174';
const time = '1544712660300000001';
const text = (stringValue: string): AnyValue => ({ stringValue });
const attribute = (key: string, value: AnyValue = {}): KeyValue => ({ key, value });
const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');

/** JSON of the record, without braces, to the expected log. */
const asJson: Readonly<Record<string, Expected>> = {
  [`"timeUnixNano":"${time}"`]: { timestampNanos: time, timestamp: '2018-12-13T14:51:00.300Z' },
  [`"timeUnixNano":${time}`]: { timestampNanos: time },
  [`"timeUnixNano":${time}.0`]: { timestampNanos: time },
  '"timeUnixNano":1.544712660300000001e18': { timestampNanos: time },
  '"timeUnixNano":{"low":-180688127,"high":359656442}': { timestampNanos: time },
  [`"timeUnixNano":0,"observedTimeUnixNano":${time}`]: {
    timestampNanos: time,
    observedTimestamp: '2018-12-13T14:51:00.300Z',
  },
  '"timeUnixNano":"1700000000"': { timestampNanos: '1700000000000000000' },
  '"timeUnixNano":1700000000123': { timestampNanos: '1700000000123000000' },
  '"timeUnixNano":"1700000000123456"': { timestampNanos: '1700000000123456000' },
  '"severityNumber":9': { severity: 'INFO', severityNumber: 9 },
  '"severityNumber":"18"': { severity: 'ERROR2', severityNumber: 18 },
  '"severityNumber":"SEVERITY_NUMBER_WARN"': { severity: 'WARN', severityNumber: 13 },
  '"severityNumber":99': { severity: 'FATAL4', severityNumber: 24 },
  '"severityNumber":-3': { severity: '', severityNumber: 0 },
  '"severityText":"Warning"': { severity: 'WARNING', severityNumber: 13 },
  '"severityText":"odd","severityNumber":5': { severity: 'ODD', severityNumber: 5 },
  '"severityText":"odd"': { severity: 'ODD', severityNumber: 0 },
  '"severityText":null,"severityNumber":null,"body":null': { severity: '', message: '' },
  [`"traceId":"${traceId}","spanId":"${spanId}"`]: { traceId, spanId },
  [`"traceId":"${traceId.toUpperCase()}"`]: { traceId, spanId: '' },
  [`"traceId":"${base64(traceId)}","spanId":"${base64(spanId)}"`]: { traceId, spanId },
  [`"traceId":"${'0'.repeat(32)}","spanId":"abc"`]: { traceId: '', spanId: '' },
  '"body":{"stringValue":"h\\u00e9llo \\ud83c\\udf0a \\u0000 \\ud800"}': {
    message: 'héllo 🌊 \0 �',
  },
  '"body":{}': { message: '' },
  '"body":{"boolValue":false}': { message: 'false' },
  '"body":{"intValue":9223372036854775807}': { message: '9223372036854775807' },
  '"body":{"intValue":"-9223372036854775808"}': { message: '-9223372036854775808' },
  '"body":{"intValue":1e3}': { message: '1000' },
  '"body":{"doubleValue":0.1}': { message: '0.1' },
  '"body":{"doubleValue":"-Infinity"}': { message: '-Infinity' },
  '"body":{"bytesValue":"_-8"}': { message: '/+8=' },
  '"body":{"arrayValue":{"values":[{"intValue":9007199254740993},{},null]}}': {
    message: '[9007199254740993,null,null]',
  },
  '"body":{"kvlistValue":{"values":[{"key":"a","value":{"boolValue":true}},{"key":"b"}]}}': {
    message: '{"a":true,"b":null}',
  },
  '"body":{"stringValue":"a","intValue":null}': { message: 'a' },
  '"body":{"string_value":"a"}': { message: '' },
  '"newField":[{}],"body":{"stringValue":"a"}': { message: 'a' },
};

/** Cases that only protobuf can express, or encodes differently. */
const asProtobuf: Readonly<Record<string, [record: object, expected: Expected]>> = {
  'the largest number for a time': [
    { timeUnixNano: '18446744073709551615' },
    { labels: { 'otel.time_unix_nano': '18446744073709551615' } },
  ],
  'hex digits for the bytes of ids': [
    { traceId: Buffer.from(traceId), spanId: Buffer.from(spanId) },
    { traceId, spanId },
  ],
  'ids of other lengths': [
    { traceId: Buffer.alloc(24, 1), spanId: Buffer.alloc(3, 1) },
    { traceId: '', spanId: '' },
  ],
  'a negative severity': [{ severityNumber: -1 }, { severityNumber: 0, severity: '' }],
  'an attribute of each kind': [
    {
      attributes: [
        attribute('text', text('a\0b')),
        attribute('empty', text('')),
        attribute('bool', { boolValue: true }),
        attribute('int', { intValue: '-5' }),
        attribute('double', { doubleValue: Number.NaN }),
        attribute('bytes', { bytesValue: Buffer.from([0, 255]) }),
        attribute('array', { arrayValue: { values: [text('x'), {}] } }),
        attribute('map', { kvlistValue: { values: [attribute('k', { intValue: '1' })] } }),
        attribute('none'),
        attribute('__proto__', text('own')),
      ],
    },
    {
      labels: Object.fromEntries([
        ...Object.entries({ text: 'a\0b', empty: '', bool: 'true', int: '-5', double: 'NaN' }),
        ...Object.entries({ bytes: 'AP8=', array: '["x",null]', map: '{"k":1}', none: '' }),
        ['__proto__', 'own'],
      ]),
    },
  ],
  'a repeated key and dropped attributes': [
    {
      attributes: [attribute('a', text('1')), attribute('a', text('2'))],
      droppedAttributesCount: 3,
    },
    { labels: { a: '2', 'otel.dropped_attributes_count': '3' } },
  ],
};

/** Sends a request that must succeed, possibly with warnings. */
async function send(body: string | Uint8Array): Promise<string> {
  const { type } = typeof body === 'string' ? json : protobuf;
  const answer = await post(service, body, { 'content-type': type });
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

/** The logs of a run, in case order. */
async function readBack(run: string, count: number): Promise<LogRecord[]> {
  const logs = await until(
    async () => {
      const page = await service.list({ label: `run:${run}`, limit: 1000 });
      return page.logs.length === count && page.logs;
    },
    { what: `${count} logs of ${run}` },
  );
  return [...logs].sort((a, b) => Number(a.labels['case']) - Number(b.labels['case']));
}

function assertLog(log: LogRecord | undefined, expected: Expected): void {
  assert.ok(log);
  const { run: _, case: __, ...labels } = log.labels;
  for (const [name, value] of Object.entries(expected)) {
    assert.deepEqual({ ...log, labels }[name as keyof LogRecord], value, name);
  }
}

const marks = (run: string, index: number) => [
  attribute('run', text(run)),
  attribute('case', text(String(index))),
];

suite('a record as JSON', () => {
  let logs: LogRecord[] = [];
  before(async () => {
    const records = Object.keys(asJson).map(
      (members, i) => `{${members},"attributes":${JSON.stringify(marks('json', i))}}`,
    );
    const body = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records.join()}]}]}]}`;
    await send(body);
    logs = await readBack('json', records.length);
  });
  for (const [index, [members, expected]] of Object.entries(asJson).entries()) {
    test(members, () => assertLog(logs[index], expected));
  }
});

suite('a record as protobuf', () => {
  let logs: LogRecord[] = [];
  before(async () => {
    const logRecords = Object.values(asProtobuf).map(([record], i) => {
      const { attributes = [] } = record as { attributes?: KeyValue[] };
      return { ...record, attributes: [...marks('protobuf', i), ...attributes] };
    });
    const body = encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    await send(body);
    logs = await readBack('protobuf', logRecords.length);
  });
  for (const [index, [name, [, expected]]] of Object.entries(asProtobuf).entries()) {
    test(name, () => assertLog(logs[index], expected));
  }
});

suite('a resource', () => {
  const names = ['cluster', 'namespace', 'node', 'pod', 'container', 'deployment'] as const;
  before(async () => {
    const resource = {
      attributes: [
        attribute('service.name', text('checkout')),
        attribute('service.namespace', text('shop')),
        attribute('host.name', text('node-1')),
        ...names.map((name) => attribute(`k8s.${name}.name`, text(`a ${name}`))),
        attribute('of', text('resource')),
        attribute('shared', text('resource')),
      ],
    };
    const scope = { name: 'library', attributes: [attribute('of.scope', text('x'))] };
    const run = attribute('run', text('resource'));
    const own = [run, attribute('of', text('log')), attribute('host.name', text('other'))];
    const scopeLogs = [
      { scope, logRecords: [{ attributes: own, severityNumber: 17 }, { attributes: [run] }] },
    ];
    // Attributes of records fill in for a resource.
    const bare = [run, attribute('service.name', text('cron')), attribute('host.name', text('b'))];
    const body = encodeLogsRequest({
      resourceLogs: [
        { resource, scopeLogs },
        { scopeLogs: [{ logRecords: [{ attributes: bare }] }] },
      ],
    });
    assert.equal(await send(body), '');
    await readBack('resource', 3);
  });
  const count = async ({ label = [], ...filters }: Record<string, string | string[]>) => {
    const labels = ['run:resource', ...[label].flat()];
    return (await service.list({ ...filters, label: labels })).logs.length;
  };

  test('fills columns of its logs, and labels that the log lacks', async () => {
    const { logs } = await service.list({ label: ['run:resource', 'of:log'] });
    const [log] = logs;
    assert.deepEqual(
      [log?.serviceName, log?.serviceNamespace, log?.host],
      ['checkout', 'shop', 'node-1'],
    );
    assert.deepEqual(log?.kubernetes, Object.fromEntries(names.map((name) => [name, `a ${name}`])));
    const { of, shared, 'host.name': host, 'of.scope': ofScope } = log?.labels ?? {};
    assert.deepEqual([of, shared, host, ofScope], ['log', 'resource', 'other', undefined]);
  });

  test('is visible to filters and facets', async () => {
    assert.equal(await count({ serviceName: 'checkout' }), 2);
    assert.equal(await count({ serviceNamespace: 'shop', host: 'node-1' }), 2);
    assert.equal(await count({ serviceName: 'cron', host: 'b' }), 1);
    assert.equal(await count({ severity: 'error' }), 1);
    for (const name of names) {
      const field = `k8s${name.charAt(0).toUpperCase()}${name.slice(1)}`;
      const value = `a ${name}`;
      assert.equal(await count({ [field]: value }), 2, field);
      const { values } = await service.facet(field, { label: 'run:resource' });
      const expected = [
        { value, count: 2 },
        { value: '', count: 1 },
      ];
      assert.deepEqual(values, expected, field);
    }
  });

  test('attributes of the log take precedence in label filters', async () => {
    assert.equal(await count({ label: 'of:log' }), 1);
    assert.equal(await count({ label: 'of:resource' }), 1);
    assert.equal(await count({ label: ['shared:resource', 'service.name:checkout'] }), 2);
    assert.equal(await count({ label: 'of.scope:x' }), 0);
  });

  test('the histogram counts what the list shows', async () => {
    const day = 24 * 60 * 60 * 1000;
    const { total } = await service.histogram({
      startTime: new Date(Date.now() - day).toISOString(),
      endTime: new Date(Date.now() + day).toISOString(),
      label: ['run:resource', 'shared:resource'],
    });
    assert.equal(total, 2);
  });
});

test('keeps the first thousand attributes and warns about the rest', async () => {
  const many = Array.from({ length: 1200 }, (_, i) => attribute(`key${i}`, text(`${i}`)));
  const body = encodeLogsRequest({
    resourceLogs: [
      { scopeLogs: [{ logRecords: [{ attributes: [...marks('many', 0), ...many] }] }] },
    ],
  });
  assert.match(await send(body), /more than 1000 attributes, the rest left out \(202\)/);
  const [log] = await readBack('many', 1);
  assert.equal(log?.labels['key997'], '997');
  assert.equal(log?.labels['key998'], undefined);
  assert.equal(log?.labels['otel.dropped_attributes_count'], '202');
});

test('stores a request repeated with its key once', async () => {
  const record = { severityNumber: 99, attributes: [attribute('run', text('again'))] };
  const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] });
  const headers = { 'content-type': json.type, 'idempotency-key': 'once' };
  const first = await post(service, body, headers);
  const second = await post(service, body, headers);
  assert.deepEqual([second.status, second.text], [200, first.text]);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  await readBack('again', 1);
});
