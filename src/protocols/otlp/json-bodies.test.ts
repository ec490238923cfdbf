/** OTLP JSON bodies: grammar, resources and scopes, limits. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  decodeJson as decode,
  decodeJsonNow as decodeNow,
  jsonRequestOf as record,
} from '../../../test/protocols/otlp-rows.ts';
import { type LogRow, readLogRows } from '../../../test/protocols/read-log-rows.ts';
import type { Batch } from '../../model/batch.ts';
import { AppError, type ErrorCode } from '../../model/errors.ts';
import { jsonWarnings } from './json-fields.ts';
import { logWarnings } from './log-record.ts';

const rowsOf = (batch: Batch): LogRow[] => readLogRows(batch.payload);
const { notLogs, repeatedKey } = jsonWarnings;
const warningsOf = (batch: Batch) => Object.fromEntries(batch.warnings ?? []);

describe('a body without records', () => {
  const cases: [body: string, warning?: string][] = [
    ['{}'],
    [' \r\n\t{ } '],
    ['\ufeff{}'],
    ['{"resourceLogs":null}'],
    ['{"resourceLogs":[]}'],
    ['{"resourceLogs":[{},null,{"resource":{},"scopeLogs":[]}]}'],
    ['{"resourceLogs":[{"scopeLogs":[{},null,{"scope":{"name":"s"},"logRecords":[null]}]}]}'],
    ['{"unknown":[[{}]],"resource":{}}'],
    ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[],"logRecords":null}]}]}', repeatedKey],
    ['{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}', notLogs],
    ['{"resourceMetrics":[]}', notLogs],
    ['{"resourceProfiles":[{}]}', notLogs],
  ];
  for (const [body, warning] of cases) {
    test(body, () => {
      const batch = decodeNow(body);
      assert.deepEqual([batch.rows, batch.payload.length, batch.rejectedCount], [0, 0, 0]);
      assert.deepEqual(warningsOf(batch), warning === undefined ? {} : { [warning]: 1 });
    });
  }
});

describe('resources and scopes', () => {
  const attributes = (key: string) => `"attributes":[{"key":"${key}","value":{"intValue":1}}]`;
  const records = '"logRecords":[{"eventName":"1"},{"eventName":"2"}]';
  const scope = `"scope":{"name":"s","version":"v",${attributes('s')},"droppedAttributesCount":2}`;
  const resource = `"resource":{${attributes('r')},"droppedAttributesCount":"3"}`;
  const bodyOf = (scopeLogs: string[], resourceLogs: string[]) =>
    `{"resourceLogs":[{${resourceLogs.join()},"scopeLogs":[{${scopeLogs.join()}}]}]}`;
  const expected = decodeNow(
    bodyOf([scope, '"schemaUrl":"su"', records], [resource, '"schemaUrl":"ru"']),
  );

  test('apply to each of their records', () => {
    const rows = rowsOf(expected);
    assert.deepEqual(
      rows.map((row) => row.eventName),
      ['1', '2'],
    );
    for (const row of rows) {
      assert.deepEqual([row.resourceSchemaUrl, row.scopeSchemaUrl], ['ru', 'su']);
      assert.deepEqual([row.scopeName, row.scopeVersion], ['s', 'v']);
      const dropped = 'otel.dropped_attributes_count';
      assert.deepEqual(
        [...(row.resourceAttributes as Map<string, string>)],
        [
          ['r', '1'],
          [dropped, '3'],
        ],
      );
      assert.deepEqual(
        [...(row.scopeAttributes as Map<string, string>)],
        [
          ['s', '1'],
          [dropped, '2'],
        ],
      );
    }
  });

  test('may follow their records', () => {
    const after = `{"resourceLogs":[{"scopeLogs":[{${records},"schemaUrl":"su",${scope}}],
      "schemaUrl":"ru",${resource}}]}`;
    assert.deepEqual(decodeNow(after).payload, expected.payload);
  });

  test('use the last of repeated values, and join repeated lists', () => {
    const first = ['"scope":{"name":"x"}', '"schemaUrl":"x"', '"logRecords":[{"eventName":"1"}]'];
    const body = bodyOf(
      [...first, scope, '"schemaUrl":"su"', '"logRecords":[{"eventName":"2"}]'],
      ['"resource":5', resource, '"schemaUrl":null', '"schemaUrl":"ru"'],
    );
    const batch = decodeNow(body);
    assert.deepEqual(batch.payload, expected.payload);
    assert.deepEqual(warningsOf(batch), { [repeatedKey]: 5, [logWarnings.wrongType]: 1 });
  });

  test('do not apply to later records', () => {
    const scopeLogs = `"scopeLogs":[{${scope},${records}},{"logRecords":[{}]}]`;
    const next = '{"scopeLogs":[{"logRecords":[{}]}]}';
    const body = `{"resourceLogs":[{${scopeLogs},${resource}},${next}]}`;
    const rows = rowsOf(decodeNow(body));
    assert.deepEqual(
      rows.map((row) => row.scopeName),
      ['s', 's', '', ''],
    );
    const counts = rows.map((row) => (row.resourceAttributes as Map<string, string>).size);
    assert.deepEqual(counts, [2, 2, 2, 0]);
  });

  test('are dropped if they have a wrong type', () => {
    const scopeLogs = '"scopeLogs":[{"scope":"s","logRecords":[{}]}]';
    const body = `{"resourceLogs":[{"resource":5,"schemaUrl":{},${scopeLogs}}]}`;
    const batch = decodeNow(body);
    assert.equal(batch.rows, 1);
    assert.deepEqual(warningsOf(batch), { [logWarnings.wrongType]: 3 });
  });
});

describe('keys in another case', () => {
  const cases: [body: string, count: number][] = [
    ['{"resource_logs":[{"scope_logs":[{"log_records":[{}]}]}]}', 1],
    ['{"ResourceLogs":[{}],"resource_logs":[]}', 2],
    ['{"resourceLogs":[{"scope_logs":[{"log_records":[{}]}],"schema_url":""}]}', 2],
    ['{"resourceLogs":[{"instrumentationLibraryLogs":[{"logs":[{}]}]}]}', 1],
    ['{"resourceLogs":[{"scopeLogs":[{"log_records":[{}]}]}]}', 1],
    ['{"resourceLogs":[{"scopeLogs":[{"instrumentationLibrary":{},"logs":[{}]}]}]}', 2],
    ['{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"time_unix_nano":1,"Body":{}}]}]}]}', 2],
    ['{"resourceLogs":[{"unknown":{"resource_logs":1},"x_y":1,"scopelog":1}]}', 0],
  ];
  for (const [body, count] of cases) {
    test(body, () => {
      const expected = count === 0 ? {} : { [jsonWarnings.misspeltKey]: count };
      assert.deepEqual(warningsOf(decodeNow(body)), expected);
    });
  }
});

describe('refused bodies', () => {
  const cases: [name: string, body: string | Buffer, message: RegExp, code?: ErrorCode][] = [
    ['empty', '', /ends at byte 0/],
    ['blank', ' \n', /ends at byte 2/],
    ['only a byte order mark', '\ufeff', /ends at byte 3/],
    ['an array', '[]', /'\[' at byte 0/],
    ['a text', '"x"', /at byte 0/],
    ['null', 'null', /at byte 0/],
    ['truncated', '{"resourceLogs":[', /ends at byte 17/],
    ['two bodies', '{}{}', /'\{' at byte 2 where the end of the body/],
    ['trailing comma', '{"resourceLogs":[{},]}', /'\]' at byte 20/],
    ['trailing comma in an object', '{"a":1,}', /'\}' at byte 7/],
    ['no comma', '{"a":1 "b":2}', /'"' at byte 7/],
    ['no colon', '{"a" 1}', /'1' at byte 5/],
    ['resourceLogs is not an array', '{"resourceLogs":{}}', /'\{' at byte 16 where an array/],
    ['a resource is not an object', '{"resourceLogs":[5]}', /'5' at byte 17 where an object/],
    [
      'scopeLogs is not an array',
      '{"resourceLogs":[{"scopeLogs":"x"}]}',
      /at byte 30 where an array/,
    ],
    [
      'a scope is not an object',
      '{"resourceLogs":[{"scopeLogs":[[]]}]}',
      /at byte 31 where an object/,
    ],
    ['a record is not an object', record('"x"'), /at byte 46 where an object/],
    ['a fault in a record', record('{"body":01}'), /'1' at byte 55/],
    ['a fault in an unknown value', record('{"x":[tru]}'), /at byte 55/],
    ['a fault after the records', `${record('{}').slice(0, -1)},}`, /at byte 54/],
    ['a line break in a text', record('{"eventName":"a\nb"}'), /byte 0x0a at byte 61/],
    ['NaN', record('{"body":{"doubleValue":NaN}}'), /'N' at byte 69/],
    ['a protobuf body', Buffer.from([0x0a, 0x02, 0x12, 0x00]), /byte 0x02 at byte 1/],
    ['too many records', record(Array(1001).fill('{}').join()), /otlpMaxRecords/, 'too_large'],
  ];
  for (const [name, body, message, code = 'malformed'] of cases) {
    test(name, () => {
      assert.throws(
        () => decodeNow(body),
        (error) =>
          error instanceof AppError &&
          error.code === code &&
          error.message.startsWith('cannot ') &&
          message.test(error.message),
      );
    });
  }

  test('leave no state for the next body', () => {
    assert.throws(() => decodeNow(record('{"time_unix_nano":1},{"a"}')), AppError);
    const batch = decodeNow('{}');
    assert.deepEqual([batch.rows, warningsOf(batch)], [0, {}]);
  });
});

test('repairs invalid UTF-8', () => {
  const head = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"a';
  const tail = '😀"}]}]}]}';
  const batch = decodeNow(
    Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0xc3]), Buffer.from(tail)]),
  );
  assert.equal(rowsOf(batch)[0]!.eventName, 'a\ufffd\ufffd😀');
  assert.deepEqual(warningsOf(batch), { [logWarnings.brokenText]: 1 });
});

test('decodes a large body in slices to the same rows', async () => {
  const names = Array.from({ length: 900 }, (_, i) => `${i} ${'x'.repeat(2000)}`);
  const records = names.map((name) => JSON.stringify({ eventName: name })).join();
  const body = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records}]}]}]}`;
  const batch = decode(body);
  assert.ok(batch instanceof Promise);
  assert.deepEqual(
    rowsOf(await batch).map((row) => row.eventName),
    names,
  );
});
