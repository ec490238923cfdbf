/** The protobuf writer, read back with protobufjs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { toTag, wireType } from './protobuf-wire.ts';
import {
  bytesField,
  bytesFieldLength,
  ProtobufWriter,
  varintField,
  varintLength,
} from './protobuf-writer.ts';

const field = fc.integer({ min: 1, max: 15 });
const half = fc.oneof(fc.nat(300), fc.nat(0xffff_ffff));

const toHalves = ({ low, high }: { low: number; high: number }) => [low >>> 0, high >>> 0];

test('writes 64-bit numbers in the computed size', () => {
  fc.assert(
    fc.property(field, half, half, (number, low, high) => {
      const writer = new ProtobufWriter(10 + varintLength(low, high));
      writer.varint(number, low, high);
      writer.fixed64(number, low, high);
      const reader = protobuf.Reader.create(writer.finish());
      assert.equal(reader.uint32(), toTag(number, wireType.varint));
      assert.deepEqual(toHalves(reader.uint64()), [low, high]);
      assert.equal(reader.uint32(), toTag(number, wireType.fixed64));
      assert.deepEqual(toHalves(reader.fixed64()), [low, high]);
      assert.equal(reader.pos, reader.len);
    }),
  );
});

test('writes text and bytes in the computed size', () => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(field, fc.string({ unit: 'binary' }), bytes, (number, raw, content) => {
      const text = raw.toWellFormed();
      const size = bytesFieldLength(Buffer.byteLength(text)) + bytesFieldLength(content.length);
      const writer = new ProtobufWriter(size);
      writer.text(number, text);
      writer.bytes(number, content);
      const reader = protobuf.Reader.create(writer.finish());
      assert.equal(reader.uint32(), toTag(number, wireType.bytes));
      assert.equal(reader.string(), text);
      assert.equal(reader.uint32(), toTag(number, wireType.bytes));
      assert.deepEqual(new Uint8Array(reader.bytes()), content);
      assert.equal(reader.pos, reader.len);
    }),
  );
});

test('omits a zero varint field but writes empty bytes', () => {
  assert.equal(varintField(1, 0).length, 0);
  assert.equal(varintField(1, 1).toString('hex'), '0801');
  assert.equal(varintField(2, 2 ** 32).toString('hex'), '108080808010');
  assert.equal(varintField(15, Number.MAX_SAFE_INTEGER).toString('hex'), '78ffffffffffffff0f');
  assert.equal(bytesField(3, '').toString('hex'), '1a00');
  assert.equal(bytesField(3, 'é').toString('hex'), '1a02c3a9');
  assert.equal(bytesField(3, Buffer.from([1])).toString('hex'), '1a0101');
});

test('throws when the size differs from the announced one', () => {
  assert.throws(() => new ProtobufWriter(3).finish(), /wrote 0 bytes of a message of 3/);
  const writer = new ProtobufWriter(1);
  writer.varint(1, 5, 0);
  assert.throws(() => writer.finish(), /wrote 2 bytes of a message of 1/);
});
