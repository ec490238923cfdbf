/** Fields with a value in random rows, against the rows before they were encoded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeLogs, type LogFixture } from '../../../test/store/log-row-fixture.ts';
import { logRowFields } from '../../codec/log-rows.ts';
import { markUsedFields } from './used-fields.ts';

const text = fc.oneof(fc.constant(''), fc.string(), fc.constant('x'.repeat(20_000)));
const labels = fc.dictionary(fc.string(), text, { maxKeys: 200 });
const ofType = {
  Int64: fc.bigInt({ min: -1n, max: 2n ** 62n }),
  UInt8: fc.nat({ max: 255 }),
  String: text,
  'Map(String, String)': labels,
};
const logArbitrary = fc.record(
  Object.fromEntries(logRowFields.map(([name, type]) => [name, ofType[type]])),
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<LogFixture>>;

test('marks the fields that have a value in some row', () => {
  fc.assert(
    fc.property(fc.array(logArbitrary, { maxLength: 5 }), (logs) => {
      const used = new Uint8Array(logRowFields.length);
      markUsedFields(encodeLogs(logs), used);
      const expected = logRowFields.map(([name, type]) =>
        logs.some((log) => type === 'Int64' || hasValue(log[name])) ? 1 : 0,
      );
      assert.deepEqual([...used], expected);
    }),
  );
});

test('keeps marks of earlier rows', () => {
  const used = new Uint8Array(logRowFields.length);
  markUsedFields(encodeLogs([{ k8sPod: 'p' }]), used);
  markUsedFields(encodeLogs([{ host: 'h' }]), used);
  const names = logRowFields.filter((_, place) => used[place] === 1).map(([name]) => name);
  assert.deepEqual(names, ['timestamp', 'observedTimestamp', 'host', 'k8sPod']);
});

function hasValue(value: LogFixture[keyof LogFixture] | undefined): boolean {
  if (typeof value === 'object') return Object.keys(value).length > 0;
  return value !== undefined && value !== '' && value !== 0;
}
