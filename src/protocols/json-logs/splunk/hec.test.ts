/** Splunk's event collector: what becomes of an envelope, of raw lines, and the answers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { configSchema } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import type { Problem, Protocol } from '../../../model/protocol.ts';
import { blankSeriesView } from '../../../../test/harness/blank-series-view.ts';
import { readLogRows } from '../../../../test/protocols/read-log-rows.ts';
import { createSplunkHec } from './hec.ts';

const [events, raw] = createSplunkHec(configSchema.parse({}));
const format = {
  mediaType: '',
  parameters: new Map<string, string>(),
  coding: 'identity',
} as const;

async function decode(protocol: Protocol, body: string, query = ''): Promise<Batch> {
  return protocol.decode(Buffer.from(body), format, {
    limits: protocol.limits,
    nowMs: 0,
    series: blankSeriesView,
    target: { path: {}, query: new URLSearchParams(query) },
  });
}

async function rowsOf(...envelopes: object[]) {
  const body = envelopes.map((envelope) => JSON.stringify(envelope)).join('');
  return readLogRows((await decode(events, body)).payload);
}

function answerTo(batch: Batch): Record<string, unknown> {
  return JSON.parse(String(events.reply(batch, format).body)) as Record<string, unknown>;
}

test('an event that is a text', async () => {
  const [row] = await rowsOf({
    time: 1795341600.123,
    host: 'web-1',
    source: 'app.log',
    sourcetype: 'shop',
    index: 'main',
    event: 'päid',
    fields: { service: 'shop', severity: 'warn', user: 'a', message: 'not this' },
  });
  assert.deepEqual(
    [row?.body, row?.host, row?.serviceName, row?.severityText],
    ['päid', 'web-1', 'shop', 'WARN'],
  );
  assert.equal(row?.timestamp, 1_795_341_600_123_000_000n);
  assert.deepEqual(
    row.logAttributes,
    new Map([
      ['source', 'app.log'],
      ['sourcetype', 'shop'],
      ['index', 'main'],
      ['user', 'a'],
      ['message', 'not this'],
    ]),
  );
});

test('an event that is an object; the envelope stands above it', async () => {
  const [row] = await rowsOf({
    event: { message: 'paid', severity: 'info', time: 1, host: 'inner', order: { id: 7 } },
    host: 'web-1',
    time: '1795341600.5',
  });
  assert.deepEqual([row?.body, row?.host, row?.severityText], ['paid', 'web-1', 'INFO']);
  assert.equal(row?.timestamp, 1_795_341_600_500_000_000n);
  assert.deepEqual(
    row.logAttributes,
    new Map([
      ['time', '1'],
      ['host', 'inner'],
      ['order.id', '7'],
    ]),
  );
});

suite('an object that was logged, as Splunk’s loggers send it', () => {
  test('winston-splunk-httplogger', async () => {
    const meta = { service: 'shop', user: { id: 7 } };
    const [row] = await rowsOf({ event: { message: { msg: 'päid', meta }, severity: 'warn' } });
    assert.deepEqual([row?.body, row?.severityText], ['päid', 'WARN']);
    assert.deepEqual(
      row?.logAttributes,
      new Map([
        ['meta.service', 'shop'],
        ['meta.user.id', '7'],
      ]),
    );
  });

  test('splunk-bunyan-logger', async () => {
    const message = { name: 'shop', pid: 7, err: { message: 'no' }, msg: 'failed', v: 0 };
    const [row] = await rowsOf({ event: { message, severity: 'error' } });
    assert.deepEqual([row?.body, row?.severityText], ['failed', 'ERROR']);
    const labels = { name: 'shop', pid: '7', 'err.message': 'no', v: '0' };
    assert.deepEqual(row?.logAttributes, new Map(Object.entries(labels)));
  });

  test('without a text', async () => {
    const event = { message: { temperature: '70F' }, severity: 'info' };
    const [row] = await rowsOf({ event });
    assert.deepEqual([row?.body, row?.severityText], [JSON.stringify(event), 'INFO']);
    assert.deepEqual(row?.logAttributes, new Map([['temperature', '70F']]));
  });
});

suite('lines of Docker', () => {
  test('as text', async () => {
    const event = { line: 'paid', source: 'stdout', tag: 'shop/a1' };
    const [row] = await rowsOf({ time: '1795341600.123456', host: 'web-1', event });
    assert.deepEqual([row?.body, row?.host], ['paid', 'web-1']);
    assert.equal(row?.timestamp, 1_795_341_600_123_456_000n);
    const labels = { source: 'stdout', tag: 'shop/a1' };
    assert.deepEqual(row.logAttributes, new Map(Object.entries(labels)));
  });

  test('as JSON', async () => {
    const line = { msg: 'paid', level: 'warn' };
    const [row] = await rowsOf({ event: { line, source: 'stdout' } });
    assert.deepEqual([row?.body, row?.severityText], ['paid', 'WARN']);
  });

  test('that are the place in a source', async () => {
    const [row] = await rowsOf({ event: { line: '42', message: 'paid' } });
    assert.equal(row?.body, 'paid');
    assert.deepEqual(row.logAttributes, new Map([['line', '42']]));
  });
});

test('an event of the OpenTelemetry Collector', async () => {
  const fields = {
    'otel.log.severity.number': 13,
    'otel.log.severity.text': 'WARN',
    'service.name': 'shop',
    trace_id: '0af7651916cd43dd8448eb211c80319c',
  };
  const [row] = await rowsOf({ time: 1795341600.123, host: 'web-1', event: 'slow', fields });
  assert.deepEqual(
    [row?.body, row?.severityText, row?.serviceName, row?.traceId],
    ['slow', 'WARN', 'shop', fields.trace_id],
  );
});

suite('an event without a message is its own message', () => {
  const cases: [event: unknown, message: string][] = [
    [{ a: { b: 1 } }, '{"a":{"b":1}}'],
    [7, '7'],
    [['a'], '["a"]'],
    [true, 'true'],
    ['', ''],
    [{}, '{}'],
  ];
  for (const [event, message] of cases) {
    test(JSON.stringify(event), async () => {
      assert.equal((await rowsOf({ event }))[0]?.body, message);
    });
  }
});

test('events one after another, of which one is invalid', async () => {
  const batch = await decode(events, '{"event":"a"} {"event":null}\n{"host":"b"}{"event":"c"}');
  assert.deepEqual(
    readLogRows(batch.payload).map(({ body }) => body),
    ['a', 'c'],
  );
  const { code, text, 'invalid-event-number': number } = answerTo(batch);
  assert.deepEqual([code, number], [6, 1]);
  assert.match(String(text), /^cannot store 2 of 4 events \(2 event is missing\), the other 2 are/);
});

test('ids of acknowledgements differ, and each is acknowledged', async () => {
  const batch = await decode(events, '{"event":"a"}');
  const [first, second] = [answerTo(batch)['ackId'], answerTo(batch)['ackId']];
  assert.ok(Number.isSafeInteger(first) && first !== second);
  const ack = events.http?.statusRoutes?.find(({ path }) => path === 'services/collector/ack');
  const ask = (body: string) =>
    ack!.answer({ path: {}, query: new URLSearchParams() }, Buffer.from(body));
  assert.equal(
    ask(`{"acks":[${String(first)},0]}`).body,
    `{"acks":{"0":true,"${String(first)}":true}}`,
  );
  for (const body of ['', '{}', '{"acks":["a"]}', '{"acks":1}']) {
    assert.throws(() => ask(body), { code: 'malformed' });
  }
});

test('raw lines have the metadata of the query', async () => {
  const query = 'host=web-1&source=a&sourcetype=s&index=i&time=1795341600';
  const batch = await decode(raw, 'one\n\ntwo {"a":1}\r\n', query);
  const rows = readLogRows(batch.payload);
  assert.deepEqual(
    rows.map(({ body, host, timestamp }) => [body, host, timestamp]),
    ['one', 'two {"a":1}'].map((body) => [body, 'web-1', 1_795_341_600_000_000_000n]),
  );
  assert.deepEqual(
    rows[0]?.logAttributes,
    new Map([
      ['source', 'a'],
      ['sourcetype', 's'],
      ['index', 'i'],
    ]),
  );
  await assert.rejects(decode(raw, 'a', `source=${'x'.repeat(1100)}`), /over 1024 bytes/);
});

test('raw lines that would each repeat long metadata', async () => {
  const query = `source=${'x'.repeat(1000)}`;
  const batch = await decode(raw, 'a\n'.repeat(10_000), query);
  assert.equal(batch.rows, 10_000);
  await assert.rejects(decode(raw, 'a\n'.repeat(20_000), query), { code: 'too_large' });
});

test('refuses a request without data', async () => {
  for (const protocol of [events, raw]) {
    const refused = await decode(protocol, ' \n').catch((error: unknown) => error);
    assert.ok(refused instanceof Error);
    const problem = { code: 'malformed', detail: refused.message } as Problem;
    const { body } = protocol.encodeProblem!(problem, undefined);
    assert.equal((JSON.parse(String(body)) as { code: number }).code, 5);
  }
});
