/** Fixed-size binary records: round trip and damage. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defineRecord } from './record.ts';

const format = defineRecord('TEST', 64, {
  version: [8, 'u32'],
  writer: [16, 'u64'],
  end: [24, 'size'],
  batches: [32, 'optional'],
  earlier: [40, 'list'],
});
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 2n });
const record = fc.record(
  {
    version: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    writer: u64,
    end: fc.nat(),
    batches: fc.option(u64, { nil: undefined }),
    earlier: fc.array(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), { maxLength: 3 }),
  },
  { noNullPrototype: true },
);

test('decodes an encoded record and ignores bytes after it', () => {
  fc.assert(
    fc.property(record, fc.uint8Array({ maxLength: 9 }), (value, more) => {
      assert.deepEqual(format.decode(Buffer.concat([format.encode(value), more])), value);
    }),
  );
});

test('rejects a short record and any damaged byte', () => {
  fc.assert(
    fc.property(record, fc.nat(63), fc.integer({ min: 1, max: 255 }), (value, at, flip) => {
      const bytes = format.encode(value);
      assert.equal(format.decode(bytes.subarray(0, 63)), undefined);
      bytes[at] = bytes[at]! ^ flip;
      assert.equal(format.decode(bytes), undefined);
    }),
  );
});
