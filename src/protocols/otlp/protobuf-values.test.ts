/** Values, attributes and texts as protobuf. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesField, varintField } from '../../../test/harness/proto-wire.ts';
import type { AnyValue, KeyValue } from '../../../test/protocols/otlp-proto.ts';
import {
  assertFails,
  label,
  recordWith,
  requestOf,
  rowOf,
  text,
} from '../../../test/protocols/otlp-rows.ts';
import { logWarnings } from './log-record.ts';

function bodyOf(value: AnyValue): unknown {
  return rowOf(requestOf({ body: value })).row.body;
}

function attributesOf(...attributes: KeyValue[]): [string, string][] {
  const { row } = rowOf(requestOf({ attributes }));
  return [...(row.logAttributes as Map<string, string>)];
}

describe('a value', () => {
  const nested = (value: AnyValue) => bodyOf({ arrayValue: { values: [value] } });

  test('is written as text', () => {
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

  test('is JSON when nested', () => {
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

  test('is its last member', () => {
    const value = Buffer.concat([bytesField(1, Buffer.from('text')), varintField(3, 7n)]);
    assert.equal(rowOf(recordWith(bytesField(5, value))).row.body, '7');
    const turned = Buffer.concat([varintField(3, 7n), bytesField(1, Buffer.from('text'))]);
    assert.equal(rowOf(recordWith(bytesField(5, turned))).row.body, 'text');
  });

  test('may be nested up to the limit', () => {
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

  test('may have their key after their value', () => {
    const entry = Buffer.concat([
      bytesField(2, bytesField(1, Buffer.from('v'))),
      bytesField(1, Buffer.from('k')),
    ]);
    assert.deepEqual(
      rowOf(recordWith(bytesField(6, entry))).row.logAttributes,
      new Map([['k', 'v']]),
    );
  });

  test('beyond a thousand are dropped and counted', () => {
    const attributes = Array.from({ length: 1200 }, (_, i) => label(`k${i}`, `${i}`));
    const { row, warnings } = rowOf(requestOf({ attributes, droppedAttributesCount: 5 }));
    const kept = row.logAttributes as Map<string, string>;
    assert.equal(kept.size, 1001);
    assert.equal(kept.get('k999'), '999');
    assert.equal(kept.get('otel.dropped_attributes_count'), '205');
    assert.deepEqual(warnings, { [logWarnings.tooManyAttributes]: 200 });
  });

  test('are found among many', () => {
    const attributes = Array.from({ length: 400 }, (_, i) => label(`k${i % 200}`, `${i}`));
    const { row, warnings } = rowOf(requestOf({ attributes }));
    const kept = row.logAttributes as Map<string, string>;
    assert.equal(kept.size, 200);
    assert.equal(kept.get('k0'), '200');
    assert.equal(kept.get('k199'), '399');
    assert.deepEqual(warnings, { [logWarnings.repeatedKey]: 200 });
  });

  test('of the sender take precedence over those of Weir', () => {
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

  test('is repaired if long or nested', () => {
    const long = Buffer.concat([Buffer.alloc(1000, 'x'), broken]);
    const array = bytesField(5, bytesField(1, bytesField(1, long)));
    const { row } = rowOf(recordWith(bytesField(5, array)));
    assert.equal(row.body, JSON.stringify(['x'.repeat(1000) + repaired]));
  });
});
