/** Rows of whole protobuf requests, encoded with protobufjs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesField, varintField } from '../../../test/harness/proto-wire.ts';
import { encodeLogsRequest, encodeMessage } from '../../../test/protocols/otlp-proto.ts';
import {
  assertFails,
  decodeInTurns,
  decodeNow,
  label,
  recordWith,
  requestOf,
  requestOfAll,
  rowOf,
  text,
} from '../../../test/protocols/otlp-rows.ts';
import { readLogRows } from '../../../test/protocols/read-log-rows.ts';
import { AppError } from '../../model/errors.ts';
import { logWarnings } from './log-record.ts';

const time = '1544712660300000001';

describe('a protobuf request', () => {
  test('fills the columns from resource, scope and record', () => {
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

  test('accepts empty messages at every level', () => {
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

  test('accepts resource and scope after the records and in pieces', () => {
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

  test('fills columns from the record if the resource does not', () => {
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

describe('wire format', () => {
  test('names the position of an error in the body', () => {
    const cases: [body: Buffer, message: RegExp][] = [
      [recordWith(Buffer.from([0x10, 1, 0x0e])), /wire type 6 at byte 9$/],
      [recordWith(Buffer.from([0x2a, 4, 0x0a, 9, 0x61, 0x62])), /end of its message at byte 9$/],
      [Buffer.from('{"resourceLogs":[]}'), /cannot parse protobuf: .* at byte 2$/],
    ];
    for (const [body, message] of cases) assertFails(body, 'malformed', message);
  });

  test('skips unknown fields', () => {
    const unknown = Buffer.concat([
      varintField(100, 1n << 60n),
      bytesField(102, Buffer.from('unknown')),
      Buffer.from([0xbb, 0x06, 0x08, 1, 0x13, 0x14, 0x1a, 1, 0, 0xbc, 0x06]),
      // The field of a known number with another wire type.
      Buffer.from([0x08, 1]),
    ]);
    const around = (...fields: Buffer[]) => Buffer.concat([unknown, ...fields, unknown]);
    const scope = bytesField(1, around(bytesField(1, Buffer.from('s'))));
    const value = around(bytesField(1, Buffer.from('body')));
    const record = bytesField(2, around(bytesField(5, value)));
    const scopeLogs = bytesField(2, around(scope, record));
    const resource = bytesField(1, unknown);
    const { row } = rowOf(around(bytesField(1, around(scopeLogs, resource))));
    assert.deepEqual([row.body, row.scopeName], ['body', 's']);
  });
});

test('warns about records of another signal', () => {
  const link = encodeMessage('AnyValue', { stringValue: 'not a body' });
  // A span: trace id, span id, name, kind, start.
  const span = [bytesField(1, Buffer.alloc(16, 1)), bytesField(2, Buffer.alloc(8, 1))];
  const rest = [bytesField(5, link), varintField(6, 2n), Buffer.from([0x39, ...Buffer.alloc(8)])];
  const { warnings } = rowOf(recordWith(Buffer.concat([...span, ...rest])));
  assert.deepEqual(warnings, { [logWarnings.wrongType]: 4 });
});

describe('limits', () => {
  test('names the setting when there are too many records', () => {
    const logRecords = Array.from({ length: 1001 }, () => ({}));
    const body = requestOfAll(logRecords);
    assertFails(body, 'too_large', /1000 log records .*ingest\.otlpMaxRecords/);
    const { rows } = decodeNow(requestOfAll(logRecords.slice(1)));
    assert.equal(rows, 1000);
  });

  test('rejects only the record when a row is too large', async () => {
    const huge = text('x'.repeat(16 * 1024 * 1024));
    const logRecords = [{ body: text('a') }, { body: huge }, { body: text('b') }];
    const batch = await decodeInTurns(requestOfAll(logRecords));
    assert.deepEqual(
      readLogRows(batch.payload).map((row) => row.body),
      ['a', 'b'],
    );
    assert.deepEqual([batch.rows, batch.rejectedCount, batch.rejected[0]?.index], [2, 1, 1]);
    assert.equal([...batch.rejectedByReason.values()][0], 1);
  });

  test('refuses a small body whose large resource repeats in many rows', async () => {
    const resource = { attributes: [label('big', 'x'.repeat(100_000))] };
    const logRecords = Array.from({ length: 1000 }, () => ({}));
    const body = encodeLogsRequest({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
    await assert.rejects(
      () => decodeInTurns(body),
      (error) => error instanceof AppError && error.code === 'too_large',
    );
  });
});
