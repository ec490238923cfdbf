/** Forward messages in each mode, and what becomes of their records. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { encode as pack, ExtData } from '@msgpack/msgpack';
import { chunkOf, eachEventPiece } from './entries.ts';
import { MessageReader } from './msgpack.ts';

const limits = { maxEvents: 100, maxDepth: 8, maxInflatedBytes: 10_000 };

function encode(value: unknown): Buffer {
  return Buffer.from(pack(value));
}

function eventsOf(message: Buffer): unknown[] {
  const text = Buffer.concat([...eachEventPiece(message, limits)]).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

function eventTime(seconds: number, nanos: number): ExtData {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(seconds);
  bytes.writeUInt32BE(nanos, 4);
  return new ExtData(0, bytes);
}

const time = eventTime(1_795_341_600, 5_000_001);
const record = { message: 'größer', level: 'warn', http: { status: 500, tags: ['a', null] } };
const event = { tag: 'app', timestamp: Number('1795341600.005000001'), ...record };
const packed = Buffer.concat([encode([time, record]), encode([time, record])]);
const chunk = 'p8n9gmxTQVC8/nh2wlKKeQ==';

const modes: readonly (readonly [string, unknown, number])[] = [
  ['Message', ['app', time, record], 1],
  ['Message with options', ['app', time, record, { chunk }], 1],
  [
    'Forward',
    [
      'app',
      [
        [time, record],
        [time, record],
      ],
      { chunk, size: 2 },
    ],
    2,
  ],
  ['PackedForward', ['app', packed, { chunk, size: 2 }], 2],
  ['CompressedPackedForward', ['app', gzipSync(packed), { chunk, compressed: 'gzip' }], 2],
  [
    'several members of gzip',
    ['app', Buffer.concat([gzipSync(packed), gzipSync(packed)]), { compressed: 'gzip' }],
    4,
  ],
];

for (const [name, message, count] of modes) {
  test(name, () => {
    assert.deepEqual(eventsOf(encode(message)), Array(count).fill(event));
    const options = (message as unknown[]).at(-1) as { chunk?: string };
    assert.equal(chunkOf(encode(message)), options.chunk);
  });
}

test('several messages are one body', () => {
  const message = encode(['app', time, record]);
  assert.equal(eventsOf(Buffer.concat([message, message])).length, 2);
});

test('a chunk of a record is no chunk of the message', () => {
  assert.equal(chunkOf(encode(['app', 1, { chunk }])), undefined);
});

test('a record without a message has itself as message', () => {
  const [one, two] = eventsOf(
    encode([
      'cpu',
      [
        [0, { user: 1.5 }],
        [0, { message: 7 }],
      ],
    ]),
  );
  assert.deepEqual(one, { tag: 'cpu', user: 1.5, message: '{"user":1.5}' });
  assert.deepEqual(two, { tag: 'cpu', message: '{"message":7}' });
  assert.deepEqual(eventsOf(encode(['x', 0, {}])), [{ tag: 'x', message: '{}' }]);
});

test('values that JSON does not have', () => {
  const values = { n: NaN, b: Buffer.from('bin'), t: time, i: -(2 ** 40), f: 2 ** 60, e: null };
  const message = encode(['app', 0, { message: 'x', ...values }]);
  const text = Buffer.concat([...eachEventPiece(message, limits)]).toString();
  assert.match(text, /"n":"NaN","b":"bin","t":1795341600.005000001,"i":-1099511627776,/);
  assert.match(text, /"f":1152921504606847000,"e":null/);
});

suite('refuses', () => {
  const deep = Array(20).fill('\x91').join('');
  const messages: readonly (readonly [string, Buffer, RegExp])[] = [
    ['no array', encode('x'), /must be an array/],
    ['no tag', encode([1, 2]), /begins with a tag/],
    ['no record', encode(['t', 1]), /must have a record/],
    ['a record that is no map', encode(['t', 1, 2]), /a record must be a map/],
    ['an entry that is no pair', encode(['t', [[1]]]), /a time and a record/],
    ['a time that is text', encode(['t', 'x', {}]), /ends|record|0x|entry/],
    ['a byte that begins no value', Buffer.from([0x92, 0xa1, 0x61, 0xc1]), /0xc1/],
    ['an end within a value', encode(['t', 1, { a: 'b' }]).subarray(0, -1), /ends/],
    ['a count of 4 billion', Buffer.from([0x92, 0xa1, 0x61, 0xdd, 255, 255, 255, 255]), /ends/],
    [
      'deep nesting',
      Buffer.concat([
        Buffer.from([0x93, 0xa1, 0x74, 1, 0x81, 0xa1, 0x61]),
        Buffer.from(`${deep}\x01`, 'latin1'),
      ]),
      /nested deeper/,
    ],
    ['an unknown compression', encode(['t', packed, { compressed: 'br' }]), /use gzip/],
    ['damaged gzip', encode(['t', packed, { compressed: 'gzip' }]), /damaged/],
    [
      'a bomb',
      encode(['t', gzipSync(Buffer.alloc(20_000)), { compressed: 'gzip' }]),
      /maxInflated/,
    ],
    ['too many events', encode(['t', Array(101).fill([1, {}])]), /forward.maxEvents/],
  ];
  for (const [name, message, expected] of messages) {
    test(name, () => {
      assert.throws(() => eventsOf(message), { name: 'AppError', message: expected });
    });
  }
});

test('a connection is split into messages however it arrives', () => {
  const messages = modes.map(([, message]) => encode(message));
  const bytes = Buffer.concat(messages);
  for (const size of [1, 7, 100, bytes.length]) {
    const reader = new MessageReader(10_000);
    const read: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      read.push(...reader.push(bytes.subarray(at, at + size)));
    }
    assert.deepEqual(read, messages, `in pieces of ${size}`);
    assert.equal(reader.partialBytes, 0);
  }
});

test('a message may not grow without end', () => {
  const reader = new MessageReader(1000);
  assert.throws(() => reader.push(Buffer.from([0xdb, 255, 255, 255, 255])), /maxMessageBytes/);
  const many = new MessageReader(1000);
  many.push(Buffer.from([0xdd, 255, 255, 255, 255]));
  assert.throws(() => many.push(Buffer.alloc(1000)), /maxMessageBytes/);
});
