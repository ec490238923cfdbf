/** The JSON decoder of OTLP logs: tables of cases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeJsonNow, jsonRequestOf, onlyRow } from '../../../test/protocols/otlp-rows.ts';
import type { LogRow } from '../../../test/protocols/read-log-rows.ts';
import { jsonWarnings } from './json-fields.ts';
import { logWarnings } from './log-record.ts';

const time = 1544712660300000001n;
const unknownTime = -1n;

/** Decodes one record. @returns its row. */
function rowOf(record: string) {
  return onlyRow(decodeJsonNow(jsonRequestOf(record), 4));
}

function attributesOf(json: string) {
  const { row, warnings } = rowOf(`{"attributes":${json}}`);
  return { attributes: [...(row.logAttributes as Map<string, string>)], warnings };
}

describe('fields of a record', () => {
  const wrong = { [logWarnings.wrongType]: 1 };
  const again = { [jsonWarnings.repeatedKey]: 1 };
  const noTime = { [logWarnings.timeForm]: 1 };
  const cases: [json: string, expected: Partial<LogRow>, warnings?: Record<string, number>][] = [
    ['{}', { timestamp: unknownTime, observedTimestamp: unknownTime, body: '', severityText: '' }],
    ['{"timeUnixNano":"1544712660300000001"}', { timestamp: time }],
    ['{"timeUnixNano":1544712660300000001}', { timestamp: time }],
    ['{"timeUnixNano":1544712660300000001.0}', { timestamp: time }],
    ['{"timeUnixNano":1.544712660300000001e18}', { timestamp: time }],
    ['{"timeUnixNano":1,"timeUnixNano":"1544712660300000001"}', { timestamp: time }, again],
    ['{"timeUnixNano":"1544712660300000001","timeUnixNano":null}', { timestamp: time }, again],
    ['{"timeUnixNano":{"low":-180688127,"high":359656442,"unsigned":true}}', { timestamp: time }],
    ['{"timeUnixNano":{"high":"359656442","low":4114279169}}', { timestamp: time }],
    ['{"timeUnixNano":"0","observedTimeUnixNano":1544712660300000001}', { timestamp: time }],
    ['{"timeUnixNano":""}', { timestamp: unknownTime }],
    ['{"timeUnixNano":true}', { timestamp: unknownTime }, wrong],
    ['{"timeUnixNano":-1}', { timestamp: unknownTime }, noTime],
    ['{"timeUnixNano":1.5}', { timestamp: unknownTime }, noTime],
    ['{"timeUnixNano":"18446744073709551616"}', { timestamp: unknownTime }, noTime],
    [
      '{"timeUnixNano":"18446744073709551615"}',
      { timestamp: unknownTime },
      { [logWarnings.timeRange]: 1 },
    ],
    ['{"severityNumber":9}', { severityNumber: 9, severityText: 'INFO' }],
    ['{"severityNumber":"9"}', { severityNumber: 9 }],
    ['{"severityNumber":9.0}', { severityNumber: 9 }],
    ['{"severityNumber":"SEVERITY_NUMBER_WARN3"}', { severityNumber: 15, severityText: 'WARN3' }],
    ['{"severityNumber":"SEVERITY_NUMBER_UNSPECIFIED"}', { severityNumber: 0, severityText: '' }],
    ['{"severityNumber":"INFO"}', { severityNumber: 0 }, wrong],
    ['{"severityNumber":99}', { severityNumber: 24 }, { [logWarnings.severityNumber]: 1 }],
    ['{"severityNumber":9e99}', { severityNumber: 0 }, wrong],
    ['{"severityText":"warning"}', { severityNumber: 13, severityText: 'WARNING' }],
    ['{"severityText":5}', { severityText: '' }, wrong],
    ['{"flags":257}', { traceFlags: 1 }],
    ['{"flags":"1"}', { traceFlags: 1 }],
    ['{"flags":4294967296}', { traceFlags: 0 }, wrong],
    ['{"flags":-1}', { traceFlags: 0 }, wrong],
    ['{"eventName":"a\\u0000b"}', { eventName: 'a\0b' }],
    ['{"\\u0065ventName":"escaped key"}', { eventName: 'escaped key' }],
    ['{"eventName":"a","eventName":"b"}', { eventName: 'b' }, again],
    ['{"eventName":"\\ud800"}', { eventName: '\ufffd' }],
    ['{"eventName":"\\ud83d\\ude00"}', { eventName: '😀' }],
    ['{"unknown":{"body":[{}]},"__proto__":{"eventName":"x"},"eventName":"y"}', { eventName: 'y' }],
  ];
  for (const [json, expected, warnings = {}] of cases) {
    test(json, () => {
      const result = rowOf(json);
      for (const [name, value] of Object.entries(expected)) {
        assert.deepEqual(result.row[name as keyof LogRow], value, name);
      }
      assert.deepEqual(result.warnings, warnings);
    });
  }

  test('keeps an unreadable time as an attribute', () => {
    const { row, warnings } = rowOf('{"timeUnixNano":"2026-01-02T03:04:05Z"}');
    assert.equal(row.timestamp, unknownTime);
    assert.deepEqual(
      [...(row.logAttributes as Map<string, string>)],
      [['otel.time_unix_nano', '2026-01-02T03:04:05Z']],
    );
    assert.deepEqual(warnings, { [logWarnings.timeForm]: 1 });
  });
});

describe('ids', () => {
  const hex = '5b8efff798038103d269b633813fc60c';
  const base64 = Buffer.from(hex, 'hex').toString('base64');
  const cases: [json: string, expected: string, warning?: string][] = [
    [`"${hex}"`, hex],
    [`"${hex.toUpperCase()}"`, hex],
    [`"\\u0035${hex.slice(1)}"`, hex],
    [`"${base64}"`, hex, logWarnings.idNotation],
    [`"${base64.replaceAll('/', '\\/')}"`, hex, logWarnings.idNotation],
    [`"${Buffer.from(hex, 'hex').toString('base64url')}"`, hex, logWarnings.idNotation],
    ['""', ''],
    ['null', ''],
    [`"${'0'.repeat(32)}"`, ''],
    [`"${hex}00"`, '', logWarnings.badId],
    [`"${hex.slice(2)}"`, '', logWarnings.badId],
    [`"${'z'.repeat(32)}"`, '', logWarnings.badId],
    ['"not an id at all!"', '', logWarnings.badId],
    ['5', '', logWarnings.wrongType],
  ];
  for (const [json, expected, warning] of cases) {
    test(json, () => {
      const { row, warnings } = rowOf(`{"traceId":${json}}`);
      assert.equal(row.traceId, expected);
      assert.deepEqual(warnings, warning === undefined ? {} : { [warning]: 1 });
    });
  }

  test('span ids have half the length', () => {
    assert.equal(rowOf('{"spanId":"EEE19B7EC3C1B174"}').row.spanId, 'eee19b7ec3c1b174');
    assert.equal(rowOf('{"spanId":"7uGbfsPBsXQ="}').row.spanId, 'eee19b7ec3c1b174');
    assert.equal(rowOf(`{"spanId":"${hex}"}`).row.spanId, '');
  });
});

describe('values', () => {
  const wrong = { [logWarnings.wrongType]: 1 };
  const misspelt = { [jsonWarnings.misspeltKey]: 1 };
  const again = { [jsonWarnings.repeatedKey]: 1 };
  const cases: [json: string, text: string, warnings?: Record<string, number>][] = [
    ['{"stringValue":"plain"}', 'plain'],
    ['{"stringValue":"tab\\tand \\u00e9"}', 'tab\tand é'],
    ['{"boolValue":true}', 'true'],
    ['{"boolValue":false}', 'false'],
    ['{"intValue":"-12"}', '-12'],
    ['{"intValue":12}', '12'],
    ['{"intValue":9007199254740993}', '9007199254740993'],
    ['{"intValue":"9223372036854775807"}', '9223372036854775807'],
    ['{"intValue":1e3}', '1000'],
    ['{"intValue":"007"}', '7'],
    ['{"intValue":-0}', '0'],
    ['{"intValue":{"low":-1,"high":-1,"unsigned":false}}', '-1'],
    ['{"intValue":9223372036854775808}', '', wrong],
    ['{"intValue":1.5}', '', wrong],
    ['{"intValue":"twelve"}', '', wrong],
    ['{"doubleValue":637.704}', '637.704'],
    ['{"doubleValue":1.50}', '1.5'],
    ['{"doubleValue":"2.5"}', '2.5'],
    ['{"doubleValue":1e21}', '1e+21'],
    ['{"doubleValue":0.00000012}', '1.2e-7'],
    ['{"doubleValue":-0.0}', '0'],
    ['{"doubleValue":1e999}', 'Infinity'],
    ['{"doubleValue":"NaN"}', 'NaN'],
    ['{"doubleValue":"-Infinity"}', '-Infinity'],
    ['{"doubleValue":"0x10"}', '', wrong],
    ['{"doubleValue":""}', ''],
    ['{"bytesValue":"AP/+"}', 'AP/+'],
    ['{"bytesValue":"AP_-"}', 'AP/+'],
    ['{"bytesValue":"YQ"}', 'YQ=='],
    ['{"bytesValue":"YQ=="}', 'YQ=='],
    ['{"bytesValue":""}', ''],
    ['{"bytesValue":"Y"}', '', wrong],
    ['{"bytesValue":"a b"}', '', wrong],
    ['{"arrayValue":{}}', '[]'],
    ['{"arrayValue":{"values":null}}', '[]'],
    [
      '{"arrayValue":{"values":[{"stringValue":"a\\"b"},{"intValue":"1"},{},null]}}',
      '["a\\"b",1,null,null]',
    ],
    ['{"arrayValue":{"values":[{"doubleValue":"NaN"},{"bytesValue":"AP_-"}]}}', '["NaN","AP/+"]'],
    ['{"arrayValue":{"values":[{"stringValue":""},5]}}', '["",null]', wrong],
    ['{"arrayValue":[{"stringValue":"a"}]}', '', wrong],
    ['{"arrayValue":{"values":{}}}', '[]', wrong],
    ['{"arrayValue":{"values":[{}],"values":[{"intValue":1}]}}', '[null,1]', again],
    ['{"arrayValue":{"values":[]},"arrayValue":{"values":[{}]}}', '[null]', again],
    ['{"kvlistValue":{"values":[{"key":"a","value":{"intValue":1}}]}}', '{"a":1}'],
    ['{"kvlistValue":{"values":[{"value":{"intValue":1},"key":"a"}]}}', '{"a":1}'],
    ['{"kvlistValue":{"values":[{"key":"b","value":{"intValue":1},"key":"a"}]}}', '{"a":1}', again],
    [
      '{"kvlistValue":{"values":[{"key":"a"},{"value":{"boolValue":true}},{}]}}',
      '{"a":null,"":true,"":null}',
    ],
    ['{"kvlistValue":{"values":[null,{"key":"a"},5]}}', '{"a":null}', wrong],
    [
      '{"kvlistValue":{"values":[{"value":{"kvlistValue":{"values":[{"key":"in"}]}}}]}}',
      '{"":{"in":null}}',
    ],
    ['{"stringValue":"a","boolValue":null}', 'a'],
    ['{"stringValue":"a","intValue":"1"}', '1'],
    ['{"arrayValue":{"values":[{"stringValue":"a","intValue":"1"}]}}', '[1]'],
    ['{"string_value":"a"}', '', misspelt],
    ['{"StringValue":"a"}', '', misspelt],
    ['{"stringValueStrindex":1}', '', { [logWarnings.stringTable]: 1 }],
    ['{}', ''],
    ['null', ''],
    ['"bare"', '', wrong],
  ];
  for (const [json, text, warnings = {}] of cases) {
    test(json, () => {
      const ofBody = rowOf(`{"body":${json}}`);
      assert.equal(ofBody.row.body, text);
      assert.deepEqual(ofBody.warnings, warnings);
      const ofAttribute = attributesOf(`[{"value":${json},"key":"k"}]`);
      assert.deepEqual(ofAttribute, { attributes: [['k', text]], warnings });
    });
  }
});

describe('attributes', () => {
  test('are read in the order sent, without nulls', () => {
    const json = '[{"key":"b","value":{"intValue":1}},null,{"value":{"boolValue":true},"key":"a"}]';
    assert.deepEqual(attributesOf(json), {
      attributes: [
        ['b', '1'],
        ['a', 'true'],
      ],
      warnings: {},
    });
  });

  test('keep the last value of a repeated key', () => {
    const json =
      '[{"key":"a","value":{"intValue":1}},{"key":"a","value":{"intValue":2}},{"key":"a"}]';
    const warnings = { [logWarnings.repeatedKey]: 2 };
    assert.deepEqual(attributesOf(json), { attributes: [['a', '2']], warnings });
  });

  test('may have empty keys, escaped keys and keys special to JavaScript', () => {
    const json =
      '[{"key":"__proto__","value":{"intValue":1}},{"value":{"intValue":2}},{"key":"\\n"}]';
    const attributes = [
      ['__proto__', '1'],
      ['', '2'],
      ['\n', ''],
    ];
    assert.deepEqual(attributesOf(json).attributes, attributes);
  });

  test('are joined with those of a second list', () => {
    const { row } = rowOf('{"attributes":[{"key":"a"}],"attributes":[{"key":"b"}]}');
    const expected = [
      ['a', ''],
      ['b', ''],
    ];
    assert.deepEqual([...(row.logAttributes as Map<string, string>)], expected);
  });

  test('beyond a thousand are dropped and counted', () => {
    const many = Array.from({ length: 1500 }, (_, i) => `{"key":"${i}","value":{"intValue":1}}`);
    const { attributes, warnings } = attributesOf(`[${many.join(',')}]`);
    assert.deepEqual(attributes.at(999), ['999', '1']);
    assert.deepEqual(attributes.at(1000), ['otel.dropped_attributes_count', '500']);
    assert.deepEqual(warnings, { [logWarnings.tooManyAttributes]: 500 });
  });

  test('are dropped if they are not a list of objects', () => {
    const warnings = { [logWarnings.wrongType]: 1 };
    assert.deepEqual(attributesOf('{"a":1}'), { attributes: [], warnings });
    assert.deepEqual(attributesOf('["a"]'), { attributes: [], warnings });
  });

  test('require a string as key', () => {
    const warnings = { [logWarnings.wrongType]: 1 };
    assert.deepEqual(attributesOf('[{"key":5}]'), { attributes: [['', '']], warnings });
  });
});
