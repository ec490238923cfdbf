/** The protobuf decoder of OTLP logs against tables of cases, encoded by another library. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type AnyValue,
  encodeLogsRequest,
  encodeMessage,
  type KeyValue,
  type LogRecord,
} from '../../../test/protocols/otlp-proto.ts';
import { bytesField, varintField } from '../../../test/harness/proto-wire.ts';
import { type LogRow, readLogRows } from '../../../test/protocols/read-log-rows.ts';
import type { Batch } from '../../model/batch.ts';
import { AppError, type ErrorCode } from '../../model/errors.ts';
import { createLogsDecoder } from './decode.ts';
import { logWarnings } from './log-warnings.ts';
import { openProtobufLogs } from './protobuf-logs.ts';

const limits = { maxEvents: 1000, maxDepth: 4, maxRejections: 3 };
const decoder = createLogsDecoder();
const decode = (body: Buffer) => decoder(body, openProtobufLogs, limits);

const time = '1544712660300000001';

function decodeNow(body: Buffer): Batch {
  const batch = decode(body);
  assert.ok(!(batch instanceof Promise));
  return batch;
}

function requestOf(record: LogRecord): Buffer {
  return encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] });
}

/** The row of the only record of a request, and what was warned of. */
function rowOf(body: Buffer): { row: LogRow; warnings: Record<string, number> } {
  const batch = decodeNow(body);
  assert.equal(batch.rejectedCount, 0);
  const rows = readLogRows(batch.payload);
  assert.equal(rows.length, 1);
  return { row: rows[0]!, warnings: Object.fromEntries(batch.warnings ?? []) };
}

function bodyOf(value: AnyValue): unknown {
  return rowOf(requestOf({ body: value })).row.body;
}

function attributesOf(...attributes: KeyValue[]): [string, string][] {
  const { row } = rowOf(requestOf({ attributes }));
  return [...(row.logAttributes as Map<string, string>)];
}

function assertFails(body: Buffer, code: ErrorCode, message: RegExp, name?: string): void {
  assert.throws(
    () => decodeNow(body),
    (error) => error instanceof AppError && error.code === code && message.test(error.message),
    name,
  );
}

const text = (value: string): AnyValue => ({ stringValue: value });
const label = (key: string, value: string): KeyValue => ({ key, value: text(value) });

describe('a request as protobuf', () => {
  test('becomes rows with the columns of its resource, its scope and its record', () => {
    const { row, warnings } = rowOf(
      encodeLogsRequest({
        resourceLogs: [
          {
            resource: {
              attributes: [
                label('service.name', 'checkout'),
                label('service.namespace', 'shop'),
                label('host.name', 'node-1'),
                label('k8s.cluster.name', 'c'),
                label('k8s.namespace.name', 'ns'),
                label('k8s.node.name', 'n'),
                label('k8s.pod.name', 'p'),
                label('k8s.container.name', 'co'),
                label('k8s.deployment.name', 'd'),
              ],
              droppedAttributesCount: 2,
            },
            schemaUrl: 'https://resource',
            scopeLogs: [
              {
                scope: {
                  name: 'lib',
                  version: '1.2',
                  attributes: [label('a', 'scope')],
                  droppedAttributesCount: 3,
                },
                schemaUrl: 'https://scope',
                logRecords: [
                  {
                    timeUnixNano: time,
                    observedTimeUnixNano: '1544712660300000002',
                    severityNumber: 10,
                    severityText: 'Information',
                    body: text('Example'),
                    attributes: [label('a', 'record')],
                    droppedAttributesCount: 4,
                    flags: 0x1ff,
                    traceId: Buffer.from('5b8efff798038103d269b633813fc60c', 'hex'),
                    spanId: Buffer.from('eee19b7ec3c1b174', 'hex'),
                    eventName: 'order.placed',
                  },
                ],
              },
            ],
          },
        ],
      }),
    );
    const resource = [
      ['service.name', 'checkout'],
      ['service.namespace', 'shop'],
      ['host.name', 'node-1'],
      ['k8s.cluster.name', 'c'],
      ['k8s.namespace.name', 'ns'],
      ['k8s.node.name', 'n'],
      ['k8s.pod.name', 'p'],
      ['k8s.container.name', 'co'],
      ['k8s.deployment.name', 'd'],
      ['otel.dropped_attributes_count', '2'],
    ] as const;
    assert.deepEqual(row, {
      timestamp: 1544712660300000001n,
      observedTimestamp: 1544712660300000002n,
      severityText: 'INFORMATION',
      severityNumber: 10,
      serviceName: 'checkout',
      serviceNamespace: 'shop',
      host: 'node-1',
      body: 'Example',
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      traceFlags: 0xff,
      k8sCluster: 'c',
      k8sNamespace: 'ns',
      k8sNode: 'n',
      k8sPod: 'p',
      k8sContainer: 'co',
      k8sDeployment: 'd',
      logAttributes: new Map([
        ['a', 'record'],
        ['otel.dropped_attributes_count', '4'],
      ]),
      resourceAttributes: new Map(resource),
      resourceSchemaUrl: 'https://resource',
      scopeName: 'lib',
      scopeVersion: '1.2',
      scopeSchemaUrl: 'https://scope',
      scopeAttributes: new Map([
        ['a', 'scope'],
        ['otel.dropped_attributes_count', '3'],
      ]),
      eventName: 'order.placed',
    });
    assert.deepEqual(warnings, {});
  });

  test('may be empty at every level', () => {
    for (const request of [
      {},
      { resourceLogs: [{}] },
      { resourceLogs: [{ scopeLogs: [{}] }, { resource: {} }] },
    ]) {
      const batch = decodeNow(encodeLogsRequest(request));
      assert.deepEqual([batch.rows, batch.payload.length, batch.rejectedCount], [0, 0, 0]);
    }
    const { row } = rowOf(requestOf({}));
    assert.equal(row.timestamp, -1n);
    assert.equal(row.observedTimestamp, -1n);
    assert.equal(row.body, '');
  });

  test('may have its resource and scope behind the records, and in pieces', () => {
    const record = encodeMessage('LogRecord', { body: text('first') });
    const scope = (message: object) =>
      bytesField(1, encodeMessage('InstrumentationScope', message));
    const resource = (message: object) => bytesField(1, encodeMessage('Resource', message));
    const scopeLogs = Buffer.concat([
      bytesField(2, record),
      scope({ name: 'old', version: '1' }),
      bytesField(3, Buffer.from('scope url')),
      scope({ name: 'new' }),
    ]);
    const resourceLogs = Buffer.concat([
      bytesField(3, Buffer.from('resource url')),
      resource({ attributes: [label('host.name', 'a'), label('one', '1')] }),
      bytesField(2, scopeLogs),
      resource({ attributes: [label('service.name', 's'), label('host.name', 'b')] }),
    ]);
    const { row, warnings } = rowOf(bytesField(1, resourceLogs));
    assert.equal(row.body, 'first');
    assert.deepEqual([row.scopeName, row.scopeVersion], ['new', '1']);
    assert.deepEqual([row.scopeSchemaUrl, row.resourceSchemaUrl], ['scope url', 'resource url']);
    assert.deepEqual([row.serviceName, row.host], ['s', 'b']);
    assert.deepEqual(warnings, { [logWarnings.repeatedKey]: 1 });
  });

  test('keeps resources, scopes and records apart', () => {
    const scopeLogs = (name: string) => ({
      scope: { name, attributes: [label('of', name)] },
      logRecords: [{ body: text(`${name}1`), attributes: [label('x', '1')] }, {}],
    });
    const batch = decodeNow(
      encodeLogsRequest({
        resourceLogs: [
          {
            resource: { attributes: [label('service.name', 'one')] },
            scopeLogs: [scopeLogs('a'), scopeLogs('b')],
          },
          { scopeLogs: [{ logRecords: [{ body: text('bare') }] }] },
        ],
      }),
    );
    const rows = readLogRows(batch.payload);
    assert.deepEqual(
      rows.map((row) => [row.serviceName, row.scopeName, row.body]),
      [
        ['one', 'a', 'a1'],
        ['one', 'a', ''],
        ['one', 'b', 'b1'],
        ['one', 'b', ''],
        ['', '', 'bare'],
      ],
    );
    assert.deepEqual(
      rows.map((row) => (row.logAttributes as Map<string, string>).size),
      [1, 0, 1, 0, 0],
    );
    assert.deepEqual(rows[4]?.scopeAttributes, new Map());
    assert.deepEqual(rows[4]?.resourceAttributes, new Map());
  });

  test('fills columns from the record where its resource says nothing', () => {
    const { row } = rowOf(
      encodeLogsRequest({
        resourceLogs: [
          {
            resource: { attributes: [label('service.name', 'resource'), label('host.name', '')] },
            scopeLogs: [
              {
                logRecords: [
                  {
                    attributes: [
                      label('service.name', 'record'),
                      label('host.name', 'of record'),
                      label('k8s.pod.name', 'pod'),
                    ],
                  },
                ],
              },
            ],
          },
        ],
      }),
    );
    assert.deepEqual(
      [row.serviceName, row.host, row.k8sPod, row.k8sNode],
      ['resource', 'of record', 'pod', ''],
    );
  });
});

describe('a value', () => {
  const nested = (value: AnyValue) => bodyOf({ arrayValue: { values: [value] } });

  test('is the text of what it holds', () => {
    assert.equal(bodyOf(text('ünï "code"\n')), 'ünï "code"\n');
    assert.equal(bodyOf({ boolValue: true }), 'true');
    assert.equal(bodyOf({ boolValue: false }), 'false');
    assert.equal(bodyOf({ intValue: '9007199254740993' }), '9007199254740993');
    assert.equal(bodyOf({ intValue: '-9223372036854775808' }), '-9223372036854775808');
    assert.equal(bodyOf({ intValue: '9223372036854775807' }), '9223372036854775807');
    assert.equal(bodyOf({ intValue: '-1' }), '-1');
    assert.equal(bodyOf({ intValue: '4294967295' }), '4294967295');
    assert.equal(bodyOf({ doubleValue: 637.704 }), '637.704');
    assert.equal(bodyOf({ doubleValue: 1e300 }), '1e+300');
    assert.equal(bodyOf({ doubleValue: Number.NaN }), 'NaN');
    assert.equal(bodyOf({ doubleValue: -Infinity }), '-Infinity');
    assert.equal(bodyOf({ bytesValue: Buffer.from([0xff, 0xfe, 0, 1]) }), '//4AAQ==');
    assert.equal(bodyOf({}), '');
    assert.equal(bodyOf({ stringValueStrindex: 3 }), '');
  });

  test('is JSON within another', () => {
    assert.equal(nested(text('a"\\\u0001\n\u007fé')), JSON.stringify(['a"\\\u0001\n\u007fé']));
    assert.equal(nested({ boolValue: false }), '[false]');
    assert.equal(nested({ intValue: '-9223372036854775808' }), '[-9223372036854775808]');
    assert.equal(nested({ doubleValue: 0.1 }), '[0.1]');
    assert.equal(nested({ doubleValue: Infinity }), '["Infinity"]');
    assert.equal(nested({ bytesValue: Buffer.from('hi') }), '["aGk="]');
    assert.equal(nested({}), '[null]');
    assert.equal(nested({ arrayValue: { values: [] } }), '[[]]');
    assert.equal(bodyOf({ kvlistValue: { values: [] } }), '{}');
    const values = [label('b', '1'), { key: 'a', value: { intValue: '2' } }, label('b', '3'), {}];
    assert.equal(bodyOf({ kvlistValue: { values } }), '{"b":"1","a":2,"b":"3","":null}');
  });

  test('is its last member where several are sent', () => {
    const value = Buffer.concat([bytesField(1, Buffer.from('text')), varintField(3, 7n)]);
    assert.equal(rowOf(recordWith(bytesField(5, value))).row.body, '7');
    const turned = Buffer.concat([varintField(3, 7n), bytesField(1, Buffer.from('text'))]);
    assert.equal(rowOf(recordWith(bytesField(5, turned))).row.body, 'text');
  });

  test('may be nested so deep and no deeper', () => {
    const wrap = (levels: number): AnyValue =>
      levels === 0 ? text('x') : { arrayValue: { values: [wrap(levels - 1)] } };
    assert.equal(bodyOf(wrap(4)), '[[[["x"]]]]');
    assertFails(requestOf({ body: wrap(5) }), 'malformed', /nested more than 4 .*otlpMaxDepth/);
    assertFails(
      requestOf({ attributes: [{ key: 'k', value: wrap(5) }] }),
      'malformed',
      /nested more than 4/,
    );
  });
});

describe('attributes', () => {
  test('are texts by key', () => {
    assert.deepEqual(
      attributesOf(
        label('s', 'v'),
        { key: 'i', value: { intValue: '10' } },
        { key: 'm', value: { kvlistValue: { values: [label('k', 'v')] } } },
        { key: 'none', value: {} },
        { key: 'absent' },
        label('', 'no key'),
        label('__proto__', 'p'),
        label('ключ', 'значение'),
      ),
      [
        ['s', 'v'],
        ['i', '10'],
        ['m', '{"k":"v"}'],
        ['none', ''],
        ['absent', ''],
        ['', 'no key'],
        ['__proto__', 'p'],
        ['ключ', 'значение'],
      ],
    );
  });

  test('have unique keys: the last value is kept, with a warning', () => {
    const attributes = [label('a', '1'), label('b', '2'), label('a', '3')];
    const { row, warnings } = rowOf(requestOf({ attributes }));
    assert.deepEqual(
      [...(row.logAttributes as Map<string, string>)],
      [
        ['a', '3'],
        ['b', '2'],
      ],
    );
    assert.deepEqual(warnings, { [logWarnings.repeatedKey]: 1 });
  });

  test('may have their key behind their value', () => {
    const entry = Buffer.concat([
      bytesField(2, bytesField(1, Buffer.from('v'))),
      bytesField(1, Buffer.from('k')),
    ]);
    assert.deepEqual(
      rowOf(recordWith(bytesField(6, entry))).row.logAttributes,
      new Map([['k', 'v']]),
    );
  });

  test('are left out beyond a thousand, and counted', () => {
    const attributes = Array.from({ length: 1200 }, (_, i) => label(`k${i}`, `${i}`));
    const { row, warnings } = rowOf(requestOf({ attributes, droppedAttributesCount: 5 }));
    const kept = row.logAttributes as Map<string, string>;
    assert.equal(kept.size, 1001);
    assert.equal(kept.get('k999'), '999');
    assert.equal(kept.get('otel.dropped_attributes_count'), '205');
    assert.deepEqual(warnings, { [logWarnings.tooManyAttributes]: 200 });
  });

  test('are found again among many', () => {
    const attributes = Array.from({ length: 400 }, (_, i) => label(`k${i % 200}`, `${i}`));
    const { row, warnings } = rowOf(requestOf({ attributes }));
    const kept = row.logAttributes as Map<string, string>;
    assert.equal(kept.size, 200);
    assert.equal(kept.get('k0'), '200');
    assert.equal(kept.get('k199'), '399');
    assert.deepEqual(warnings, { [logWarnings.repeatedKey]: 200 });
  });

  test('of Weir give way to the sender’s', () => {
    const own = label('otel.dropped_attributes_count', 'mine');
    const { row } = rowOf(requestOf({ attributes: [own], droppedAttributesCount: 7 }));
    assert.deepEqual(row.logAttributes, new Map([['otel.dropped_attributes_count', 'mine']]));
  });

  test('may refer to string tables, which only profiles have', () => {
    const attributes = [{ keyStrindex: 3, value: { stringValueStrindex: 4 } }];
    const { row, warnings } = rowOf(requestOf({ attributes }));
    assert.deepEqual(row.logAttributes, new Map([['', '']]));
    assert.deepEqual(warnings, { [logWarnings.stringTable]: 2 });
  });
});

/** A request of one log record with these fields. */
function recordWith(...fields: Buffer[]): Buffer {
  return bytesField(1, bytesField(2, bytesField(2, Buffer.concat(fields))));
}

describe('text that is not valid UTF-8', () => {
  const broken = Buffer.from([0x61, 0xff, 0x62, 0xc3]);
  const repaired = 'a\ufffdb\ufffd';

  test('is repaired, with a warning', () => {
    const { row, warnings } = rowOf(
      recordWith(
        bytesField(3, broken),
        bytesField(5, bytesField(1, broken)),
        bytesField(6, Buffer.concat([bytesField(1, broken), bytesField(2, bytesField(1, broken))])),
        bytesField(12, broken),
      ),
    );
    assert.equal(row.body, repaired);
    assert.equal(row.eventName, repaired);
    assert.equal(row.severityText, repaired.toUpperCase());
    assert.deepEqual(row.logAttributes, new Map([[repaired, repaired]]));
    assert.deepEqual(warnings, { [logWarnings.brokenText]: 5 });
  });

  test('is repaired where it is long or nested, too', () => {
    const long = Buffer.concat([Buffer.alloc(1000, 'x'), broken]);
    const array = bytesField(5, bytesField(1, bytesField(1, long)));
    const { row } = rowOf(recordWith(bytesField(5, array)));
    assert.equal(row.body, JSON.stringify(['x'.repeat(1000) + repaired]));
  });
});

describe('ids', () => {
  const idsOf = (traceId: Buffer, spanId: Buffer) => {
    const { row, warnings } = rowOf(requestOf({ traceId, spanId }));
    return { ids: [row.traceId, row.spanId], warnings };
  };

  test('sent as hex digits are decoded, with a warning', () => {
    assert.deepEqual(
      idsOf(Buffer.from('5B8EFFF798038103D269B633813FC60C'), Buffer.from('eee19b7ec3c1b174')),
      {
        ids: ['5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b174'],
        warnings: { [logWarnings.idNotation]: 2 },
      },
    );
  });

  test('of another form are left out, with a warning', () => {
    for (const [traceId, spanId] of [
      [Buffer.alloc(15, 1), Buffer.alloc(7, 1)],
      [Buffer.alloc(17, 1), Buffer.alloc(9, 1)],
      [Buffer.alloc(32, 'g'), Buffer.alloc(16, 'g')],
    ] as const) {
      assert.deepEqual(idsOf(traceId, spanId), {
        ids: ['', ''],
        warnings: { [logWarnings.badId]: 2 },
      });
    }
  });

  test('of zeros, or none, are no ids', () => {
    for (const [traceId, spanId] of [
      [Buffer.alloc(16), Buffer.alloc(8)],
      [Buffer.alloc(0), Buffer.alloc(0)],
    ] as const) {
      assert.deepEqual(idsOf(traceId, spanId), { ids: ['', ''], warnings: {} });
    }
  });
});

describe('times and severities of a record', () => {
  test('take the observed time where there is no other', () => {
    const { row } = rowOf(requestOf({ observedTimeUnixNano: time }));
    assert.deepEqual([row.timestamp, row.observedTimestamp], [BigInt(time), BigInt(time)]);
  });

  test('in other units are corrected, with a warning', () => {
    for (const sent of ['1544712660', '1544712660000', '1544712660000000']) {
      const { row, warnings } = rowOf(requestOf({ timeUnixNano: sent }));
      assert.equal(row.timestamp, 1_544_712_660_000_000_000n);
      assert.deepEqual(warnings, { [logWarnings.timeUnit]: 1 });
    }
  });

  test('outside 1970 to 2149 become the time of receipt, and are kept as labels', () => {
    const far = '18446744073709551615';
    const { row, warnings } = rowOf(
      requestOf({ timeUnixNano: far, observedTimeUnixNano: '5648745600000000000' }),
    );
    assert.deepEqual([row.timestamp, row.observedTimestamp], [-1n, -1n]);
    assert.deepEqual(
      row.logAttributes,
      new Map([
        ['otel.time_unix_nano', far],
        ['otel.observed_time_unix_nano', '5648745600000000000'],
      ]),
    );
    assert.deepEqual(warnings, { [logWarnings.timeRange]: 2 });
  });

  test('outside do not turn to the observed time', () => {
    const far = '18446744073709551615';
    const { row } = rowOf(requestOf({ timeUnixNano: far, observedTimeUnixNano: time }));
    assert.deepEqual([row.timestamp, row.observedTimestamp], [-1n, BigInt(time)]);
  });

  test('complete each other’s word and number', () => {
    const severityOf = (severityText: string, severityNumber: number) => {
      const { row, warnings } = rowOf(requestOf({ severityText, severityNumber }));
      return [row.severityText, row.severityNumber, ...Object.keys(warnings)];
    };
    assert.deepEqual(severityOf('', 0), ['', 0]);
    assert.deepEqual(severityOf('Warning', 0), ['WARNING', 13]);
    assert.deepEqual(severityOf('', 18), ['ERROR2', 18]);
    assert.deepEqual(severityOf('odd', 0), ['ODD', 0]);
    assert.deepEqual(severityOf('info', 17), ['INFO', 17]);
    assert.deepEqual(severityOf('', 99), ['FATAL4', 24, logWarnings.severityNumber]);
    assert.deepEqual(severityOf('debug', -4), ['DEBUG', 5, logWarnings.severityNumber]);
  });
});

describe('limits', () => {
  test('of records name the setting', () => {
    const logRecords = Array.from({ length: 1001 }, () => ({}));
    const body = encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    assertFails(body, 'too_large', /1000 log records .*ingest\.otlpMaxRecords/);
    const { rows } = decodeNow(
      encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords: logRecords.slice(1) }] }] }),
    );
    assert.equal(rows, 1000);
  });

  test('of a row reject the record alone', async () => {
    const huge = text('x'.repeat(16 * 1024 * 1024));
    const logRecords = [{ body: text('a') }, { body: huge }, { body: text('b') }];
    const batch = await decode(
      encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
    );
    assert.deepEqual(
      readLogRows(batch.payload).map((row) => row.body),
      ['a', 'b'],
    );
    assert.deepEqual([batch.rows, batch.rejectedCount, batch.rejected[0]?.index], [2, 1, 1]);
    assert.equal([...batch.rejectedByReason.values()][0], 1);
  });

  test('of rows keep a small body with a large resource from becoming many bytes', async () => {
    const resource = { attributes: [label('big', 'x'.repeat(100_000))] };
    const logRecords = Array.from({ length: 1000 }, () => ({}));
    const body = encodeLogsRequest({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
    await assert.rejects(
      async () => decode(body),
      (error) => error instanceof AppError && error.code === 'too_large',
    );
  });
});

describe('bad wire', () => {
  const short = /goes beyond the end of its message at byte \d+$/;

  test('is refused, with the place', () => {
    const longGroup = Buffer.concat([
      Buffer.from([0x0b]),
      Buffer.alloc(2 << 20, 0x10),
      Buffer.from([0x0c]),
    ]);
    const cases: [string, Buffer, RegExp][] = [
      ['a length beyond the body', Buffer.from([0x0a, 5, 0]), short],
      [
        'a length beyond its message',
        recordWith(Buffer.from([0x2a, 4, 0x0a, 9, 0x61, 0x62])),
        short,
      ],
      ['half a fixed64', recordWith(Buffer.from([0x09, 1, 2])), short],
      ['half a fixed32', recordWith(Buffer.from([0x45, 1, 2])), short],
      ['half a varint', recordWith(Buffer.from([0x10, 0x80])), short],
      ['half a tag', Buffer.from([0x80]), short],
      ['a tag alone', Buffer.from([0x0a]), short],
      ['a long varint', recordWith(Buffer.from([0x10, ...Array(11).fill(0x80)])), /ten bytes/],
      ['field 0', Buffer.from([0x02, 0]), /field of number 0 at byte 0/],
      ['wire type 6', Buffer.from([0x0e]), /wire type 6/],
      ['a length of 2^32', Buffer.from([0x0a, 0x80, 0x80, 0x80, 0x80, 0x10]), short],
      ['a huge field number', Buffer.from([0x88, 0x80, 0x80, 0x80, 0x80, 0x01, 0]), /29 bits/],
      ['a group that never began', Buffer.from([0x0c]), /group that did not begin/],
      ['a group that never ends', Buffer.from([0x0b, 0x10, 1]), short],
      ['a group that ends as another', Buffer.from([0x0b, 0x14]), /another group/],
      ['groups in groups', Buffer.alloc(1000, 0x0b), /more than 64 open groups at byte 64/],
      ['a long group', longGroup, /a group of more than 1048576 bytes at byte 1$/],
      ['JSON', Buffer.from('{"resourceLogs":[]}'), /cannot parse protobuf/],
    ];
    for (const [name, body, message] of cases) {
      assertFails(body, 'malformed', message, name);
    }
  });

  test('within a record names the byte of the body', () => {
    const body = recordWith(Buffer.from([0x10, 1, 0x0e]));
    assertFails(body, 'malformed', new RegExp(`wire type 6 at byte ${body.length}$`));
  });

  test('of unknown fields is passed over', () => {
    const unknown = Buffer.concat([
      varintField(100, 1n << 60n),
      Buffer.from([0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8]),
      bytesField(102, Buffer.from('unknown')),
      Buffer.from([0xbb, 0x06, 0x08, 1, 0x13, 0x14, 0x1a, 1, 0, 0xbc, 0x06]),
      Buffer.from([0xc5, 0x06, 1, 2, 3, 4]),
      // Known numbers in another wire type.
      Buffer.from([0x08, 1]),
    ]);
    const scope = Buffer.concat([
      unknown,
      bytesField(1, Buffer.concat([bytesField(1, Buffer.from('s')), unknown])),
    ]);
    const value = Buffer.concat([unknown, bytesField(1, Buffer.from('body')), unknown]);
    const record = bytesField(2, Buffer.concat([unknown, bytesField(5, value), unknown]));
    const scopeLogs = bytesField(2, Buffer.concat([scope, record, unknown]));
    const resource = bytesField(1, unknown);
    const { row } = rowOf(
      Buffer.concat([unknown, bytesField(1, Buffer.concat([scopeLogs, unknown, resource]))]),
    );
    assert.deepEqual([row.body, row.scopeName], ['body', 's']);
  });
});
