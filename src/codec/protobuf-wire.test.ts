/** The protobuf wire format reader: values, limits, and errors with their position. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../model/errors.ts';
import { ProtobufWire, toTag, wireType } from './protobuf-wire.ts';

function open(bytes: string | Uint8Array): { wire: ProtobufWire; end: number } {
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'hex') : Buffer.from(bytes);
  return { wire: new ProtobufWire(buffer), end: buffer.length };
}

/** Skips every field up to `end`. */
function skipAll(wire: ProtobufWire, end: number): void {
  while (wire.at < end) wire.skip(wire.tag(end), end);
}

function isMalformed(error: unknown, message: RegExp): boolean {
  assert.ok(error instanceof AppError);
  assert.equal(error.code, 'malformed');
  assert.match(error.message, message);
  return true;
}

describe('reads', () => {
  const varints: [hex: string, high: number, low: number][] = [
    ['00', 0, 0],
    ['7f', 0, 127],
    ['8001', 0, 128],
    ['8000', 0, 0],
    ['ffffffff0f', 0, 0xffff_ffff],
    ['8080808010', 1, 0],
    ['ffffffffff7f', 0x3ff, 0xffff_ffff],
    ['808080808001', 8, 0],
    ['d2a6e5b1ce33', 0x19c, 0xe639_5352],
    ['ffffffffffffffffff01', 0xffff_ffff, 0xffff_ffff],
    // Bits beyond 64 are dropped.
    ['ffffffffffffffffff7f', 0xffff_ffff, 0xffff_ffff],
    ['8080808080808080807e', 0, 0],
  ];
  for (const [hex, high, low] of varints) {
    test(`varint ${hex}`, () => {
      const { wire, end } = open(hex);
      wire.varint(end);
      assert.deepEqual([wire.high, wire.low, wire.at], [high, low, end]);
      wire.at = 0;
      wire.unixMillis(end);
      assert.deepEqual([wire.high, wire.low, wire.at], [high, low, end]);
      wire.at = 0;
      assert.equal(wire.uint32(end), low);
      assert.equal(wire.at, end);
    });
  }

  type Read = (wire: ProtobufWire, end: number) => number | bigint;
  const numbers: [hex: string, read: Read, value: number | bigint][] = [
    ['ffffffffffffffffff01', (wire, end) => wire.int64(end), -1n],
    ['80808080808080808001', (wire, end) => wire.int64(end), -(2n ** 63n)],
    ['ffffffffffffffff7f', (wire, end) => wire.int64(end), 2n ** 63n - 1n],
    ['ffffffffffffff0f', (wire, end) => wire.uint64(end), Number.MAX_SAFE_INTEGER],
    ['ffffffffffffffffff01', (wire, end) => wire.uint64(end), 2 ** 64],
    ['00', (wire, end) => wire.sint64(end), 0],
    ['01', (wire, end) => wire.sint64(end), -1],
    ['feffffff0f', (wire, end) => wire.sint64(end), 2 ** 31 - 1],
    ['ffffffff0f', (wire, end) => wire.sint64(end), -(2 ** 31)],
    ['ffffffffffffffffff01', (wire, end) => wire.sint64(end), -(2 ** 63)],
    ['efbeadde', (wire, end) => wire.fixed32(end), 0xdead_beef],
    ['000000000000f83f', (wire, end) => wire.double(end), 1.5],
  ];
  for (const [hex, read, value] of numbers) {
    test(`${hex} as ${value}`, () => {
      const { wire, end } = open(hex);
      assert.equal(read(wire, end), value);
      assert.equal(wire.at, end);
    });
  }

  test('a fixed64 as two halves', () => {
    const { wire, end } = open('02000000000000ff');
    wire.fixed64(end);
    assert.deepEqual([wire.high, wire.low], [0xff00_0000, 2]);
  });

  test('a length of one or two bytes, also with a redundant byte', () => {
    for (const [hex, length] of [
      ['00', 0],
      ['7f', 127],
      ['8001', 128],
      ['8500', 5],
    ] as const) {
      const head = Buffer.from(hex, 'hex');
      const { wire, end } = open(Buffer.concat([head, Buffer.alloc(length)]));
      assert.deepEqual([wire.lengthEnd(end), wire.at], [end, head.length]);
    }
  });

  test('detects a non-ASCII byte at either end of a range', () => {
    for (let length = 0; length < 12; length += 1) {
      const text = Buffer.alloc(length + 2, 0x7f);
      text[0] = 0x80;
      text[length + 1] = 0x80;
      const { wire } = open(text);
      assert.ok(wire.isAscii(1, length + 1));
      assert.ok(!wire.isAscii(0, length + 1) && !wire.isAscii(1, length + 2));
    }
  });
});

describe('rejects with the position', () => {
  const short = 'a value that goes beyond the end of its message';
  const longGroup = `0b${'10'.repeat(1024 * 1024 + 2)}0c`;
  const cases: [name: string, hex: string, fault: string, at: number][] = [
    ['a length beyond the end', '0a0500', short, 1],
    ['a long length beyond the end', `0a8001${'00'.repeat(127)}`, short, 1],
    ['a length of 2^32', '0a8080808010', short, 1],
    ['a length of 2^31', '0a8080808008', short, 1],
    ['a truncated length', '10000a80', short, 3],
    ['a truncated fixed64', '0901020304050607', short, 1],
    ['a truncated fixed32', '1000450102', short, 3],
    ['a truncated varint', '1080', short, 1],
    ['a truncated tag', '100080', short, 2],
    ['a tag without a value', '0a', short, 1],
    ['an eleven-byte varint', `10${'80'.repeat(10)}01`, 'a varint of more than ten bytes', 1],
    ['a twelve-byte tag', 'ff'.repeat(12), 'a varint of more than ten bytes', 0],
    ['field 0', '10000200', 'a field of number 0', 2],
    ['field 0 with redundant bytes', '828000', 'a field of number 0', 0],
    ['a field number that is too high', '88808080800100', 'a field number of more than 29 bits', 0],
    ['wire type 6', '0e', 'wire type 6', 1],
    ['wire type 7', '0f', 'wire type 7', 1],
    ['a group end without a start', '0c', 'the end of a group that did not begin', 1],
    ['a group without an end', '0b1001', short, 3],
    ['a group closed by another number', '0b14', 'the end of another group than the last', 1],
    ['groups closed in the wrong order', '0b130c14', 'the end of another group than the last', 2],
    ['too deep groups', '0b'.repeat(1000), 'more than 64 open groups', 64],
    ['a group beyond the size limit', longGroup, 'a group of more than 1048576 bytes', 1],
  ];
  for (const [name, hex, fault, at] of cases) {
    test(name, () => {
      const { wire, end } = open(hex);
      assert.throws(
        () => skipAll(wire, end),
        (error) =>
          isMalformed(error, new RegExp(`^cannot parse protobuf: ${fault} at byte ${at}$`)),
      );
    });
  }

  test('every read beyond the end of the message, even if the buffer continues', () => {
    const readers: readonly ((wire: ProtobufWire, end: number) => unknown)[] = [
      (wire, end) => wire.tag(end),
      (wire, end) => wire.lengthEnd(end),
      (wire, end) => wire.varint(end),
      (wire, end) => wire.unixMillis(end),
      (wire, end) => wire.uint32(end),
      (wire, end) => wire.uint64(end),
      (wire, end) => wire.int64(end),
      (wire, end) => wire.sint64(end),
      (wire, end) => wire.fixed32(end),
      (wire, end) => wire.fixed64(end),
      (wire, end) => wire.double(end),
      (wire, end) => wire.pass(1, end),
      (wire, end) => wire.skip(toTag(1, wireType.varint), end),
      (wire, end) => wire.skip(toTag(1, wireType.group), end),
    ];
    for (const read of readers) {
      const { wire } = open(Buffer.alloc(20, 8));
      wire.at = 3;
      assert.throws(
        () => read(wire, 3),
        (error) => isMalformed(error, /beyond the end of its message at byte 3$/),
        String(read),
      );
    }
  });

  test('a field with an unexpected wire type', () => {
    const { wire } = open('00');
    assert.throws(
      () => wire.failType(7, toTag(20, wireType.fixed32), 'a sample'),
      (error) => isMalformed(error, /: field 20 of a sample in wire type 5 at byte 7$/),
    );
  });
});

test('skips groups up to the limits on depth and size', () => {
  const nested = '0b'.repeat(64) + '0c'.repeat(64);
  const long = `0b${'10'.repeat(1024 * 1024)}0c`;
  for (const hex of [
    '0b0c',
    nested,
    nested.repeat(3),
    '0b130b0c08011a0114140c',
    long,
    long + long,
  ]) {
    const { wire, end } = open(hex);
    skipAll(wire, end);
    assert.equal(wire.at, end);
  }
});
