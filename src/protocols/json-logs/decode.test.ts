/** The JSON decoder: tables of cases, and generated bodies compared with JSON.parse. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readLogRows } from '../../../test/protocols/read-log-rows.ts';
import type { Batch } from '../../model/batch.ts';
import { AppError, type ErrorCode } from '../../model/errors.ts';
import { createJsonLogsDecoder } from './decode.ts';
import { fieldKeys } from './event-fields.ts';
import { maxLabels } from './label-set.ts';

const decodeBody = createJsonLogsDecoder();
const limits = { maxEvents: 1000, maxDepth: 64, maxRejections: 3 };
const decode = (body: Buffer) => decodeBody(body, limits);
const absent = -1n;

function decodeNow(body: string | Buffer): Batch {
  const batch = decode(Buffer.from(body));
  assert.ok(!(batch instanceof Promise));
  return batch;
}

function only(event: string) {
  const batch = decodeNow(event);
  assert.equal(batch.rows, 1);
  return readLogRows(batch.payload)[0]!;
}

function labelsOf(event: string) {
  return Object.fromEntries(only(event).logAttributes as Map<string, string>);
}

describe('fields', () => {
  const cases: [name: string, event: string, expected: Record<string, unknown>][] = [
    ['only a message', '{"message":"hi"}', { body: 'hi', timestamp: absent, severityText: '' }],
    ['empty message', '{"message":""}', { body: '' }],
    ['surrounding space', ' \n{ "message" : "hi" } \t', { body: 'hi' }],
    ['byte order mark', '\ufeff{"message":"hi"}', { body: 'hi' }],
    [
      'severity in lower case',
      '{"message":"","severity":"warning"}',
      { severityText: 'WARNING', severityNumber: 13 },
    ],
    [
      'unknown severity',
      '{"message":"","severity":"bad"}',
      { severityText: 'BAD', severityNumber: 0 },
    ],
    [
      'severity beyond ASCII',
      '{"message":"","severity":"größe"}',
      { severityText: 'GRÖSSE', severityNumber: 0 },
    ],
    [
      'escaped severity',
      '{"message":"","severity":"\\u0069nfo"}',
      { severityText: 'INFO', severityNumber: 9 },
    ],
    ['pino level', '{"msg":"","level":50}', { severityText: 'ERROR', severityNumber: 17 }],
    ['custom level', '{"msg":"","level":35}', { severityText: '35', severityNumber: 0 }],
    ['level word', '{"msg":"","level":"info"}', { severityText: 'INFO', severityNumber: 9 }],
    ['service alias', '{"msg":"","service":"a"}', { serviceName: 'a' }],
    [
      'service_name before service',
      '{"msg":"","service":"a","service_name":"b"}',
      { serviceName: 'b' },
    ],
    ['null is absent', '{"message":null,"msg":"x","host":null}', { body: 'x', host: '' }],
    ['last of repeated keys', '{"message":"a","message":"b"}', { body: 'b' }],
    ['escaped key', '{"mess\\u0061ge":"a"}', { body: 'a' }],
    [
      'namespace and host',
      '{"message":"","service_namespace":"n","hostname":"h"}',
      { serviceNamespace: 'n', host: 'h' },
    ],
    [
      'time in RFC 3339',
      '{"message":"","timestamp":"2026-01-02T03:04:05.123456789+01:00"}',
      { timestamp: 1767319445123456789n },
    ],
    ['time in seconds', '{"message":"","ts":1767319445.25}', { timestamp: 1767319445250000000n }],
    ['time in ms', '{"message":"","time":1767319445123}', { timestamp: 1767319445123000000n }],
    ['time in µs', '{"message":"","time":1767319445123456}', { timestamp: 1767319445123456000n }],
    [
      'time in ns',
      '{"message":"","@timestamp":1767319445123456789}',
      { timestamp: 1767319445123456789n },
    ],
    ['1970', '{"message":"","timestamp":0}', { timestamp: 0n }],
    [
      'time with escaped slashes',
      '{"message":"","time":"22\\/Nov\\/2026:10:00:00 +0000"}',
      { timestamp: 1795341600000000000n },
    ],
    [
      'readable time behind an unreadable one',
      '{"message":"","time":"12ms","ts":"1795341600.5"}',
      { timestamp: 1795341600500000000n },
    ],
    [
      'ids',
      '{"message":"","trace_id":"0AF7651916CD43DD8448EB211C80319C","span_id":"b7ad6b7169203331"}',
      { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' },
    ],
    [
      'Kubernetes labels',
      '{"message":"","labels":{"k8s.pod.name":"p","k8s.cluster.name":"c"}}',
      { k8sPod: 'p', k8sCluster: 'c' },
    ],
    ['lone surrogate', '{"message":"a\\ud800b"}', { body: 'a\ufffdb' }],
    ['surrogate pair', '{"message":"\\ud83d\\ude00"}', { body: '😀' }],
    ['NUL', '{"message":"a\\u0000b"}', { body: 'a\0b' }],
  ];
  for (const [name, event, expected] of cases) {
    test(name, () => {
      const row = only(event);
      for (const [key, value] of Object.entries(expected)) {
        assert.deepEqual(row[key as keyof typeof row], value, key);
      }
    });
  }
});

describe('labels', () => {
  const cases: [name: string, event: string, expected: Record<string, string>][] = [
    [
      'scalars become text',
      '{"message":"","labels":{"a":"x","b":1.50,"c":true,"d":null}}',
      { a: 'x', b: '1.50', c: 'true' },
    ],
    ['nested stays JSON', '{"message":"","labels":{"a":{"b":[1, 2]}}}', { a: '{"b":[1, 2]}' }],
    ['top-level keys', '{"message":"","a":1,"labels":{"b":"2"}}', { a: '1', b: '2' }],
    [
      'labels stand above top-level keys',
      '{"a":"top","message":"","labels":{"a":"label"}}',
      { a: 'label' },
    ],
    ['in either order', '{"message":"","labels":{"a":"label"},"a":"top"}', { a: 'label' }],
    [
      'last labels object counts',
      '{"message":"","labels":{"a":"1"},"labels":{"b":"2"}}',
      { b: '2' },
    ],
    ['repeated key, null last', '{"message":"","labels":{"a":"1","a":null}}', {}],
    [
      'huge number keeps its digits',
      '{"message":"","n":1e999,"m":12345678901234567890}',
      { n: '1e999', m: '12345678901234567890' },
    ],
    ['unused alias', '{"message":"a","msg":"b"}', { msg: 'b' }],
    ['alias of another shape', '{"message":"a","service":["x"]}', { service: '["x"]' }],
    [
      'objects of ECS have dotted names',
      '{"message":"a","service":{"version":"1","node":{"name":"n"}},' +
        '"host":{"name":"h","ip":["::1"]}}',
      { 'service.version': '1', 'service.node.name': 'n', 'host.ip': '["::1"]' },
    ],
    ['other objects stay JSON', '{"message":"a","user":{"id":7}}', { user: '{"id":7}' }],
    [
      'nested and dotted, the last one counts',
      '{"message":"a","error":{"code":1,"\\u0063ode":2},"error.code":3}',
      { 'error.code': '3' },
    ],
    [
      'an object below four names stays JSON',
      '{"message":"a","error":{"b":{"c":{"d":{"e":{"f":1}}}}}}',
      { 'error.b.c.d.e': '{"f":1}' },
    ],
    ['unreadable time', '{"message":"a","timestamp":"yesterday"}', { timestamp: 'yesterday' }],
    ['time before 1970', '{"message":"a","timestamp":-5}', { timestamp: '-5' }],
    [
      'time after 2149',
      '{"message":"a","timestamp":"2149-01-01T00:00:00Z"}',
      { timestamp: '2149-01-01T00:00:00Z' },
    ],
    [
      'bad trace id',
      '{"message":"a","trace_id":"xyz","span_id":"0000000000000000"}',
      { trace_id: 'xyz', span_id: '0000000000000000' },
    ],
    [
      'names of JavaScript',
      '{"message":"","__proto__":"p","labels":{"constructor":"c","__proto__x":"1"}}',
      { ['__proto__']: 'p', constructor: 'c', __proto__x: '1' },
    ],
    ['empty key', '{"message":"","labels":{"":"e"}}', { '': 'e' }],
  ];
  for (const [name, event, expected] of cases) {
    test(name, () => assert.deepEqual(labelsOf(event), expected));
  }
});

describe('reads each event of a logger that the manual lists', () => {
  const page = readFileSync(new URL('../../../docs/senders/json-logs.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| ([^|`]+) \| `(\{.+\})` \| `([^`]+)` \|$/gm)];
  test('the manual has a table of events', () => assert.ok(rows.length >= 14, `${rows.length}`));
  for (const [, logger = '', event = '', expected = ''] of rows) {
    test(logger, () => {
      const row = only(event);
      const { severityText, serviceName, host, body } = row;
      const columns = [severityText, serviceName, host, body];
      assert.equal(columns.map((column) => String(column) || '-').join(' '), expected);
      assert.equal((row.timestamp as bigint) / 1_000_000_000n, 1795341600n);
      if (severityText !== '') assert.notEqual(row.severityNumber, 0);
    });
  }
});

describe('fields of loggers that fill no column', () => {
  const cases: [name: string, event: string, expected: Record<string, string>][] = [
    ['a name that is no service', '{"msg":"a","level":"info","name":"Bob"}', { name: 'Bob' }],
    ['a line beside a message', '{"message":"a","log":"b\\n"}', { log: 'b\n' }],
    ['the stream of Docker', '{"log":"a","stream":"stderr"}', { stream: 'stderr' }],
    ['an object as log', '{"message":"a","log":{"file":1}}', { 'log.file': '1' }],
    [
      'an error of winston',
      '{"level":"error","message":"a","error":{"message":"b","stack":"Error: b"}}',
      { 'error.message': 'b', 'error.stack': 'Error: b' },
    ],
    [
      'an error of pino',
      '{"level":50,"msg":"a","err":{"type":"Error","message":"b"}}',
      { 'err.type': 'Error', 'err.message': 'b' },
    ],
    ['a body beside a message', '{"msg":"a","body":"b"}', { body: 'b' }],
    [
      'an error of Python',
      '{"message":"a","exc_info":"Traceback","levelname":"ERROR"}',
      { exc_info: 'Traceback' },
    ],
  ];
  for (const [name, event, expected] of cases) {
    test(name, () => assert.deepEqual(labelsOf(event), expected));
  }

  test('an escaped backslash before n is no line break', () => {
    assert.equal(only('{"log":"a\\\\n"}').body, 'a\\n');
    assert.equal(only('{"log":"\\n"}').body, '');
  });

  test('ids of traces', () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    for (const ids of [
      `"trace":{"id":"${trace}"},"span":{"id":"b7ad6b7169203331"}`,
      `"trace.id":"${trace}","span.id":"b7ad6b7169203331"`,
      `"trace_id":"${trace}","span_id":"b7ad6b7169203331"`,
      `"traceId":"${trace}","spanId":"b7ad6b7169203331"`,
      `"TraceId":"${trace}","SpanId":"b7ad6b7169203331"`,
      `"@tr":"${trace}","@sp":"b7ad6b7169203331"`,
      `"otelTraceID":"${trace}","otelSpanID":"b7ad6b7169203331","trace_id":"0"`,
    ]) {
      const { traceId, spanId } = only(`{"message":"a",${ids}}`);
      assert.deepEqual([traceId, spanId], [trace, 'b7ad6b7169203331']);
    }
    assert.deepEqual(labelsOf(`{"message":"a","trace":{"id":"none"}}`), { 'trace.id': 'none' });
  });

  test('an instant of Log4j2 to the nanosecond', () => {
    const row = only('{"message":"a","instant":{"nanoOfSecond":1002003,"epochSecond":1795341600}}');
    assert.equal(row.timestamp, 1_795_341_600_001_002_003n);
    assert.equal((row.logAttributes as Map<string, string>).size, 0);
  });

  test('pods of ECS and of Fluent Bit are those of Kubernetes', () => {
    const ecs = only(
      '{"message":"a","kubernetes":{"namespace":"shop","node":{"name":"n"},"pod":{"name":"p"},' +
        '"container":{"name":"c"},"deployment":{"name":"d"}},"orchestrator.cluster.name":"k"}',
    );
    const fluent = only(
      '{"log":"a","kubernetes":{"namespace_name":"shop","host":"n","pod_name":"p",' +
        '"container_name":"c","labels":{"app":"x"}}}',
    );
    const columns = ['k8sNamespace', 'k8sNode', 'k8sPod', 'k8sContainer'] as const;
    for (const row of [ecs, fluent]) {
      assert.deepEqual(
        columns.map((column) => row[column]),
        ['shop', 'n', 'p', 'c'],
      );
    }
    assert.deepEqual([ecs.k8sCluster, ecs.k8sDeployment], ['k', 'd']);
  });

  test('a host without a name is no host', () => {
    assert.throws(() => decodeNow('{"message":"a","host":{"ip":"::1"}}'), /host is not a string/);
    assert.throws(() => decodeNow('{"message":"a","host":{}}'), /host is not a string/);
  });

  test('numbers of syslog outside 0 to 7 stay as sent', () => {
    assert.equal(only('{"MESSAGE":"a","PRIORITY":"9"}').severityText, '9');
    assert.equal(only('{"MESSAGE":"a","PRIORITY":6}').severityText, 'INFO');
  });
});

test('counts events whose time is unreadable', () => {
  const unreadable = '{"message":"a","timestamp":"yesterday"},{"message":"b","ts":{}}';
  const { rows, warnings } = decodeNow(
    `[${unreadable},{"message":"c"},{"message":"d","time":1795341600},{"timestamp":"never"}]`,
  );
  assert.equal(rows, 4);
  assert.deepEqual(
    [...(warnings ?? [])],
    [['unreadable time: stored with the time of receipt', 2]],
  );
  assert.deepEqual([...(decodeNow('{"message":"a"}').warnings ?? [])], []);
});

describe('rejected records', () => {
  const cases: [event: string, reason: RegExp][] = [
    ['{}', /message is missing/],
    ['{"message":5}', /message is not a string/],
    ['{"message":"","severity":9}', /severity is not a string/],
    ['{"message":"","service_name":{}}', /service_name is not a string/],
    ['{"message":"","host":[]}', /host is not a string/],
    ['{"message":"","labels":"x"}', /labels is not an object/],
    ['{"message":"","labels":{"a":"1"},"labels":[]}', /labels is not an object/],
    ['5', /not an object/],
    ['[[]]', /not an object/],
    ['null', /not an object/],
    [
      `{"message":"",${Array.from({ length: 1001 }, (_, i) => `"k${i}":1`).join(',')}}`,
      /more than 1000 labels/,
    ],
  ];
  for (const [event, reason] of cases) {
    test(event.slice(0, 60), () => {
      const batch = decodeNow(`[{"message":"a"},${event},{"message":"b"}]`);
      assert.equal(batch.rows, 2);
      assert.deepEqual(
        readLogRows(batch.payload).map((row) => row.body),
        ['a', 'b'],
      );
      assert.equal(batch.rejectedCount, 1);
      assert.equal(batch.rejected[0]?.index, 1);
      assert.match(batch.rejected[0].reason, reason);
    });
  }

  test('caps the list of rejections but counts all', () => {
    const batch = decodeNow(`[{"message":"a"}${',1'.repeat(10)}]`);
    assert.equal(batch.rejectedCount, 10);
    assert.deepEqual([...batch.rejectedByReason], [['the event is not an object', 10]]);
    assert.equal(batch.rejected.length, 3);
  });
});

describe('refused bodies', () => {
  const deep = (open: string, close: string) =>
    `{"message":"","a":${open.repeat(100_000)}1${close.repeat(100_000)}}`;
  const cases: [name: string, body: string | Buffer, code: ErrorCode][] = [
    ['empty', '', 'malformed'],
    ['blank', ' \n', 'malformed'],
    ['a string', '"x"', 'malformed'],
    ['cut off', '{"message":"x"', 'malformed'],
    ['cut off in a string', '{"message":"x', 'malformed'],
    ['cut off in an escape', '{"message":"x\\u12', 'malformed'],
    ['trailing comma', '[{"message":"x"},]', 'malformed'],
    ['two bodies', '{"message":"x"}{"message":"y"}', 'malformed'],
    ['single quotes', "{'message':'x'}", 'malformed'],
    ['raw line break in a string', '{"message":"x\ny"}', 'malformed'],
    ['unknown escape', '{"message":"\\x"}', 'malformed'],
    ['NaN', '{"message":"x","a":NaN}', 'malformed'],
    ['leading zero', '{"message":"x","a":01}', 'malformed'],
    ['leading plus', '{"message":"x","a":+1}', 'malformed'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'malformed'],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0x80, 0x22]), 'malformed'],
    ['deep arrays', deep('[', ']'), 'malformed'],
    ['deep objects', deep('{"a":', '}'), 'malformed'],
    ['deep array of no events', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'malformed'],
    ['nothing acceptable', '[1,2]', 'malformed'],
    ['a single unacceptable event', '{"message":1}', 'malformed'],
    ['too many events', `[${Array(1001).fill('{"message":""}').join(',')}]`, 'too_large'],
  ];
  for (const [name, body, code] of cases) {
    test(name, () => {
      assert.throws(
        () => decodeNow(body),
        (error) =>
          error instanceof AppError && error.code === code && error.message.startsWith('cannot '),
      );
    });
  }
});

test('names the route for events one after another', () => {
  const message = /^cannot read a second event at byte 16: .* to …\/lines$/;
  assert.throws(() => decodeNow('{"message":"x"}\n{"message":"y"}\n'), { message });
});

test('decodes an empty array to an empty batch', () => {
  const batch = decodeNow(' [ ] ');
  assert.deepEqual([batch.rows, batch.rejectedCount, batch.payload.length], [0, 0, 0]);
});

test('accepts nesting at the limit and rejects one level more', () => {
  const nested = (levels: number) =>
    `{"message":"","a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  assert.equal(decodeNow(nested(63)).rows, 1);
  assert.throws(() => decodeNow(nested(64)), /nested/);
});

test('reserves room for a severity that is longer in upper case', () => {
  const pod = 'p'.repeat(200_000);
  const severity = 'ΐ'.repeat(20_000);
  const body = JSON.stringify({ message: 'm', severity, 'k8s.pod.name': pod, last: 'end' });
  const { payload } = decodeNow(body);
  // The rows differ by two bytes: the severity grows from two bytes to four.
  const plain = decodeNow(body.replace(severity, 'X'));
  const upper = Buffer.byteLength(severity.toUpperCase());
  assert.equal(payload.length, plain.payload.length - 1 + upper + 2);
  assert.deepEqual(payload.subarray(-20), plain.payload.subarray(-20));
});

test('decodes a large body in slices to the same rows', async () => {
  const events = Array.from({ length: 900 }, (_, i) => ({ message: `${i} ${'x'.repeat(2000)}` }));
  const batch = decode(Buffer.from(JSON.stringify(events)));
  assert.ok(batch instanceof Promise);
  const rows = readLogRows((await batch).payload);
  assert.deepEqual(
    rows.map((row) => row.body),
    events.map((event) => event.message),
  );
});

test('rejects a million keys in one event without building them', () => {
  const keys = Array.from({ length: 1_000_000 }, (_, i) => `"${i}":0`).join(',');
  const batch = decode(Buffer.from(`[{"message":"kept"},{"message":"",${keys}}]`));
  return Promise.resolve(batch).then((done) => {
    assert.equal(done.rows, 1);
    assert.match(done.rejected[0]!.reason, /labels/);
  });
});

const bodyText = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc
    .array(
      fc.record(
        {
          message: fc.oneof(fc.string({ unit: 'binary' }), fc.integer()),
          severity: fc.constantFrom('info', 'WARN', null, 5),
          labels: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
          extra: fc.jsonValue({ maxDepth: 3 }),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 5 },
    )
    .map((events) => JSON.stringify(events)),
);

/** The expected row of an event, computed with JSON.parse. */
function expectedLabels(event: Record<string, unknown>): Record<string, string> {
  const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const entries = new Map<string, string>();
  for (const [key, value] of Object.entries(event)) {
    if (['message', 'severity', 'labels'].includes(key) || value === null) continue;
    entries.set(key, toText(value));
  }
  for (const [key, value] of Object.entries(event['labels'] ?? {})) {
    if (value !== null) entries.set(key, toText(value));
  }
  return Object.fromEntries(entries);
}

function isAcceptable(event: unknown): boolean {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return false;
  const { message, severity } = event as Record<string, unknown>;
  // Damage may change the 5 to another number.
  return typeof message === 'string' && typeof severity !== 'number';
}

test('agrees with JSON.parse on valid JSON and on the events', () => {
  fc.assert(
    fc.property(bodyText, fc.nat(), fc.nat(255), fc.boolean(), (text, at, byte, damage) => {
      const body = Buffer.from(text);
      if (damage && body.length > 0) body[at % body.length] = byte;
      let parsed: unknown;
      try {
        parsed = JSON.parse(
          new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body),
        );
      } catch {
        assert.throws(() => decodeNow(body), AppError);
        return;
      }
      const events: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
      let batch: Batch;
      try {
        batch = decodeNow(body);
      } catch (error) {
        assert.ok(error instanceof AppError);
        assert.ok(!Array.isArray(parsed) || !events.some(isAcceptable));
        return;
      }
      assert.equal(batch.rows + batch.rejectedCount, events.length);
      if (damage || batch.rejectedCount > 0) return;
      for (const [index, row] of readLogRows(batch.payload).entries()) {
        const event = events[index] as Record<string, unknown>;
        assert.equal(row.body, Buffer.from(event['message'] as string).toString());
        const labels = Object.fromEntries(row.logAttributes as Map<string, string>);
        for (const [key, value] of Object.entries(expectedLabels(event))) {
          assert.equal(labels[Buffer.from(key).toString()], Buffer.from(value).toString());
        }
      }
    }),
    { numRuns: 3000 },
  );
});

test('as many labels as are accepted, and every field of loggers', () => {
  const labels = Object.fromEntries(Array.from({ length: maxLabels }, (_, n) => [`l${n}`, '1']));
  const fields = Object.fromEntries(fieldKeys.filter((key) => key !== '').map((key) => [key, 'v']));
  const event = { ...fields, labels };
  const batch = decodeNow(JSON.stringify([{ message: 'before' }, event, { message: 'after' }]));
  const rows = readLogRows(batch.payload);
  assert.deepEqual(
    rows.map(({ body }) => body),
    ['before', 'v', 'after'],
  );
  assert.ok((rows[1]!.logAttributes as Map<string, string>).size > maxLabels);
});
