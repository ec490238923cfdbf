/** Converts lines to events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLineReader, type EventDefaults, type LineFormat } from './event-line.ts';

const none: EventDefaults = {
  severity: undefined,
  serviceName: undefined,
  serviceNamespace: undefined,
  host: undefined,
  labels: new Map(),
};
const all: EventDefaults = {
  severity: 'INFO',
  serviceName: 'shop',
  serviceNamespace: 'eu',
  host: 'web-1',
  labels: new Map([['region', 'west']]),
};
const filled = { severity: 'INFO', service_name: 'shop', service_namespace: 'eu', host: 'web-1' };

test('keeps any text as the message', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const line = text.replaceAll(/[\n\r]/g, ' ');
      if (line.trim() === '') return;
      assert.deepEqual(read(line, 'lines'), { message: line });
    }),
  );
});

test('drops a carriage return at the end of a line', () => {
  assert.deepEqual(read('a b \r', 'auto'), { message: 'a b ' });
});

const texts: readonly [string, LineFormat, unknown][] = [
  ['{"message":"x","n":1}', 'auto', { message: 'x', n: 1 }],
  ['  {"msg":"x"} ', 'ndjson', { msg: 'x' }],
  ['{"message":"x"}', 'lines', { message: '{"message":"x"}' }],
  ['{not json', 'auto', { message: '{not json' }],
  ['[1]', 'auto', { message: '[1]' }],
  ['"text"', 'auto', { message: '"text"' }],
  ['', 'auto', undefined],
  ['  \r', 'lines', undefined],
];
for (const [line, format, event] of texts) {
  test(`reads ${JSON.stringify(line)} as ${format}`, () =>
    assert.deepEqual(read(line, format), event));
}

const faults: readonly [string, LineFormat, string][] = [
  ['text', 'ndjson', 'not a JSON object'],
  ['[{"message":"x"}]', 'ndjson', 'not a JSON object'],
  ['{"a":1}', 'ndjson', 'message is missing'],
  ['{"message":null}', 'ndjson', 'message is missing'],
  ['{"message":1}', 'ndjson', 'message is not a string'],
  ['{"message":"x","host":1}', 'ndjson', 'host is not a string'],
  ['{"message":"x","labels":[]}', 'ndjson', 'labels is not an object'],
  ['{"__proto__":{"message":"x"}}', 'ndjson', 'message is missing'],
];
for (const [line, format, reason] of faults) {
  test(`rejects ${line}: ${reason}`, () => {
    assert.deepEqual(createLineReader(format, none)(line), { kind: 'fault', reason });
  });
  test(`sends ${line} as a message where lines may have any form`, () => {
    assert.deepEqual(read(line, 'auto'), { message: line });
  });
}

const events = [
  '{"log":"x\\n","stream":"stdout"}',
  '{"MESSAGE":"x"}',
  '{"short_message":"x"}',
  '{"body":"x","severity_text":"INFO"}',
  '{"level":"INFO","fields":{"message":"x"}}',
  '{"@t":"2026-11-22T10:00:00Z","@mt":"x"}',
  '{"error":{"message":"x"}}',
  '{"message":"x","host":{"name":"a"}}',
];
for (const line of events) {
  test(`sends ${line} as it is`, () => assert.deepEqual(read(line, 'ndjson'), JSON.parse(line)));
}

const ownFields = [
  '{"message":"x","levelname":"ERROR","service.name":"a","_HOSTNAME":"b"}',
  '{"message":"x","log":{"level":"warn"},"service":{"name":"a"},"host":{"name":"b"}}',
  '{"msg":"x","level":30,"name":"a","hostname":"b"}',
];
for (const line of ownFields) {
  test(`keeps severity, service and host of ${line}`, () => {
    const own = JSON.parse(line) as object;
    const expected = { ...own, service_namespace: 'eu', region: 'west' };
    assert.deepEqual(read(line, 'auto', all), expected);
  });
}

test('adds only missing fields', () => {
  assert.deepEqual(read('x', 'auto', all), { message: 'x', ...filled, region: 'west' });
  const own = {
    message: 'x',
    severity: 'WARN',
    service: 'cart',
    hostname: 'a',
    labels: { b: '1' },
  };
  assert.deepEqual(read(JSON.stringify(own), 'auto', all), {
    ...own,
    service_namespace: 'eu',
    region: 'west',
  });
  const nulls = '{"message":"x","severity":null,"host":null,"region":"east","level":"info"}';
  assert.deepEqual(read(nulls, 'auto', all), {
    message: 'x',
    severity: null,
    service_name: 'shop',
    service_namespace: 'eu',
    host: 'web-1',
    region: 'east',
    level: 'info',
  });
});

test('keeps digits of numbers beyond a double', () => {
  const line = '{"message":"x","timestamp":1763683200123456789,"big":12345678901234567890.5}';
  const reading = createLineReader('auto', { ...none, host: 'h' })(line);
  assert.deepEqual(reading, {
    kind: 'event',
    json: `${line.slice(0, -1)},"host":"h"}`,
    isTimed: true,
  });
});

test('accepts every key of a time', () => {
  const isTimed = (event: object) => {
    const reading = createLineReader('auto', none)(JSON.stringify({ message: 'x', ...event }));
    return reading?.kind === 'event' && reading.isTimed;
  };
  for (const name of ['timestamp', 'time', 'ts', '@timestamp']) {
    assert.equal(isTimed({ [name]: 1 }), true);
    assert.equal(isTimed({ [name]: null }), false);
  }
  assert.equal(isTimed({}), false);
});

test('turns an exported log back into its event', () => {
  const log = {
    logId: '01a1fb9b-47e4-7000-802d-23d1e3e1d916',
    timestamp: '2026-11-21T00:57:00.132Z',
    timestampNanos: '1795222620132000007',
    streamId: '41d7ddd8-1621-483f-9ff9-16ab3cc08963',
    severity: 'WARN',
    message: 'late',
    serviceName: 'shop',
    serviceNamespace: '',
    host: 'web-2',
    labels: { a: '1', 'k8s.pod.name': 'mine' },
    kubernetes: { cluster: 'c1', pod: 'p1', namespace: '' },
    traceId: '',
    spanId: '',
    eventName: 'paid',
    scope: { name: 'logger', version: '' },
  };
  const { severity: _, ...rest } = all;
  assert.deepEqual(read(JSON.stringify(log), 'auto', { ...rest, severity: undefined }), {
    message: 'late',
    severity: 'WARN',
    service_name: 'shop',
    service_namespace: 'eu',
    host: 'web-2',
    timestamp: '2026-11-21T00:57:00.132000007Z',
    labels: {
      'k8s.cluster.name': 'c1',
      'k8s.pod.name': 'mine',
      'event.name': 'paid',
      'otel.scope.name': 'logger',
      a: '1',
    },
    region: 'west',
  });
});

function read(line: string, format: LineFormat, defaults = none): unknown {
  const reading = createLineReader(format, defaults)(line);
  if (reading === undefined) return undefined;
  assert.equal(reading.kind, 'event');
  return JSON.parse(reading.kind === 'event' ? reading.json : '');
}
