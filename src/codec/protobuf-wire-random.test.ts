/**
 * The protobuf wire format reader compared with protobufjs, on generated fields and on damaged
 * bytes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { AppError } from '../model/errors.ts';
import { ProtobufWire, toTag, wireType } from './protobuf-wire.ts';

/** A generated field and the value that reading it returns. */
type Field =
  | { readonly kind: 'varint'; readonly value: bigint }
  | { readonly kind: 'fixed64'; readonly value: bigint }
  | { readonly kind: 'sint64'; readonly value: number }
  | { readonly kind: 'fixed32'; readonly value: number }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'group'; readonly value: readonly Numbered[] };
type Numbered = Field & { readonly number: number };

const bits = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.integer({ min: 0, max: 300 }).map(BigInt),
  fc.bigInt({ min: 2n ** 34n, max: 2n ** 43n }),
);
const number = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2 ** 29 - 1 }));
const leaf: fc.Arbitrary<Numbered> = fc.oneof(
  fc.record({ number, kind: fc.constant('varint'), value: bits }),
  fc.record({ number, kind: fc.constant('fixed64'), value: bits }),
  fc.record({ number, kind: fc.constant('sint64'), value: fc.maxSafeInteger() }),
  fc.record({ number, kind: fc.constant('fixed32'), value: fc.nat(2 ** 32 - 1) }),
  fc.record({ number, kind: fc.constant('double'), value: fc.double() }),
  fc.record({ number, kind: fc.constant('bytes'), value: fc.uint8Array({ maxLength: 300 }) }),
);
const { fields } = fc.letrec<{ fields: readonly Numbered[] }>((tie) => ({
  fields: fc.array(
    fc.oneof(
      { withCrossShrink: true, maxDepth: 3 },
      leaf,
      fc.record({ number, kind: fc.constant('group'), value: tie('fields') }),
    ),
    { maxLength: 8 },
  ),
}));

const typeOf = {
  varint: wireType.varint,
  sint64: wireType.varint,
  fixed64: wireType.fixed64,
  double: wireType.fixed64,
  fixed32: wireType.fixed32,
  bytes: wireType.bytes,
  group: wireType.group,
} as const;

function write(writer: protobuf.Writer, list: readonly Numbered[]): protobuf.Writer {
  for (const { number: field, ...content } of list) {
    writer.uint32(toTag(field, typeOf[content.kind]));
    if (content.kind === 'group') {
      write(writer, content.value).uint32(toTag(field, wireType.groupEnd));
    } else if (content.kind === 'varint') writer.uint64(toLong(content.value));
    else if (content.kind === 'fixed64') writer.fixed64(toLong(content.value));
    else if (content.kind === 'sint64') writer.sint64(content.value);
    else if (content.kind === 'fixed32') writer.fixed32(content.value);
    else if (content.kind === 'double') writer.double(content.value);
    else writer.bytes(content.value);
  }
  return writer;
}

const Long = protobuf.util.Long as unknown as {
  fromString(text: string, isUnsigned: boolean): protobuf.Long;
};

function toLong(value: bigint): protobuf.Long {
  return Long.fromString(String(value), true);
}

function read(wire: ProtobufWire, end: number, { number: field, ...content }: Numbered): void {
  const tag = wire.tag(end);
  assert.equal(tag, toTag(field, typeOf[content.kind]));
  switch (content.kind) {
    case 'varint': {
      const { at } = wire;
      for (const kind of ['varint', 'unixMillis'] as const) {
        wire.at = at;
        wire[kind](end);
        assert.equal((BigInt(wire.high) << 32n) | BigInt(wire.low), content.value);
      }
      return;
    }
    case 'fixed64':
      wire.fixed64(end);
      assert.equal((BigInt(wire.high) << 32n) | BigInt(wire.low), content.value);
      return;
    case 'bytes': {
      const valueEnd = wire.lengthEnd(end);
      assert.deepEqual(new Uint8Array(wire.bytes.subarray(wire.at, valueEnd)), content.value);
      wire.at = valueEnd;
      return;
    }
    case 'group':
      for (const inner of content.value) read(wire, end, inner);
      assert.equal(wire.tag(end), toTag(field, wireType.groupEnd));
      return;
    case 'sint64':
    case 'fixed32':
    case 'double':
      assert.equal(wire[content.kind](end), content.value);
  }
}

/** A view into a larger buffer, like a body in the buffer of its connection. */
function amid(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.alloc(3, 0xff), bytes, Buffer.alloc(3, 0xff)]).subarray(3, -3);
}

test('reads and skips each field that protobufjs writes', () => {
  fc.assert(
    fc.property(fields, (list) => {
      const bytes = amid(write(protobuf.Writer.create(), list).finish());
      const wire = new ProtobufWire(bytes);
      const passed = new ProtobufWire(bytes);
      for (const field of list) {
        read(wire, bytes.length, field);
        passed.skip(passed.tag(bytes.length), bytes.length);
        assert.equal(passed.at, wire.at);
      }
      assert.equal(wire.at, bytes.length);
    }),
    { numRuns: 500 },
  );
});

test('skips damaged bytes like protobufjs, or rejects them', () => {
  const damaged = fc
    .tuple(fields, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.nat())
    .map(([list, changes, cut]) => {
      const bytes = Buffer.from(write(protobuf.Writer.create(), list).finish());
      for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
      return cut % 2 === 0 ? bytes : bytes.subarray(0, cut % (bytes.length + 1));
    });
  const small = fc.array(fc.oneof(fc.nat(40), fc.nat(255)), { maxLength: 30 });
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        small.map((bytes) => Buffer.from(bytes)),
      ),
      (bytes) => {
        assertSkipped(amid(bytes));
      },
    ),
    { numRuns: 5000 },
  );
});

function assertSkipped(bytes: Buffer): void {
  const wire = new ProtobufWire(bytes);
  const reader = protobuf.Reader.create(bytes);
  while (wire.at < bytes.length) {
    try {
      wire.skip(wire.tag(bytes.length), bytes.length);
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'malformed', String(error));
      const at = /^cannot parse protobuf: .* at byte (\d+)$/.exec(error.message)?.[1];
      assert.ok(Number(at) <= bytes.length && wire.at <= bytes.length, error.message);
      return;
    }
    reader.skipType(reader.uint32() & 7);
    assert.equal(wire.at, reader.pos);
  }
}
