/** Forward messages in each mode, and what becomes of their records. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { encode as pack, ExtData } from '@msgpack/msgpack';
import { configSchema } from '../../../config/schema.ts';
import { AppError } from '../../../model/errors.ts';
import { blankSeriesView } from '../../../../test/harness/blank-series-view.ts';
import { readLogRows } from '../../../../test/protocols/read-log-rows.ts';
import { chunkOf } from './entries.ts';
import { createForward } from './forward.ts';
import { MessageReader } from './msgpack.ts';

const config = configSchema.parse({ forward: { maxInflatedBytes: 10_000 } });
const forward = createForward(config);
const limits = { maxEvents: 100, maxDepth: 8, maxRejections: 10 };

function encode(value: unknown): Buffer {
  return Buffer.from(pack(value));
}

const wire = {
  mediaType: '',
  parameters: new Map<string, string>(),
  coding: 'identity',
} as const;
const context = { limits, nowMs: 0, series: blankSeriesView };

async function rowsOf(message: Buffer) {
  return readLogRows((await forward.decode(message, wire, context)).payload);
}

async function eventsOf(message: Buffer) {
  return (await rowsOf(message)).map(({ body, timestamp, severityText, logAttributes }) => ({
    message: body,
    time: timestamp,
    severity: severityText,
    labels: Object.fromEntries(logAttributes as Map<string, string>),
  }));
}

function eventTime(seconds: number, nanos: number): ExtData {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(seconds);
  bytes.writeUInt32BE(nanos, 4);
  return new ExtData(0, bytes);
}

const time = eventTime(1_795_341_600, 5_000_001);
const record = { message: 'größer', level: 'warn', http: { status: 500, tags: ['a', null] } };
const event = {
  message: 'größer',
  time: 1_795_341_600_005_000_001n,
  severity: 'WARN',
  labels: { tag: 'app', http: '{"status":500,"tags":["a",null]}' },
};
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
  test(name, async () => {
    assert.deepEqual(await eventsOf(encode(message)), Array(count).fill(event));
    const options = (message as unknown[]).at(-1) as { chunk?: string };
    assert.equal(chunkOf(encode(message)), options.chunk);
  });
}

test('several messages are one body', async () => {
  const message = encode(['app', time, record]);
  const compressed = encode(['zip', gzipSync(packed), { compressed: 'gzip' }]);
  const events = await eventsOf(Buffer.concat([message, compressed, message]));
  const tags = events.map(({ labels }) => labels['tag']);
  assert.deepEqual(tags, ['app', 'zip', 'zip', 'app']);
  assert.ok(events.every(({ message: text }) => text === record.message));
});

test('a chunk of a record is no chunk of the message', () => {
  assert.equal(chunkOf(encode(['app', 1, { chunk }])), undefined);
});

test('a record without a message has itself as message', async () => {
  const records = [{ user: 1.5 }, { message: 7 }, {}];
  const events = await eventsOf(encode(['cpu', records.map((one) => [0, one])]));
  assert.deepEqual(
    events.map(({ message, labels }) => [message, labels]),
    [
      ['{"user":1.5}', { tag: 'cpu', user: '1.5' }],
      ['{"message":7}', { tag: 'cpu' }],
      ['{}', { tag: 'cpu' }],
    ],
  );
});

/** Of a record in the message mode, with the fields besides its message. */
async function labelsOf(values: object): Promise<Record<string, string>> {
  const [one] = await eventsOf(encode(['app', 0, { message: 'x', ...values }]));
  assert.equal(one?.message, 'x');
  const { tag, ...labels } = one.labels;
  assert.equal(tag, 'app');
  return labels;
}

test('values that JSON does not have, and those that labels do not have', async () => {
  const values = { n: NaN, b: Buffer.from('bin'), t: time, i: -(2 ** 40), f: 2 ** 60, e: null };
  const bytes = new ExtData(7, Buffer.from('bytes'));
  assert.deepEqual(await labelsOf({ ...values, x: bytes, host: bytes, y: { z: [true, NaN] } }), {
    n: 'NaN',
    b: 'bin',
    t: '1795341600.005000001',
    i: '-1099511627776',
    f: '1152921504606847000',
    x: 'Ynl0ZXM=',
    host: 'Ynl0ZXM=',
    y: '{"z":[true,"NaN"]}',
  });
});

test('fields have the names of JSON events', async () => {
  const fields = {
    level: 30,
    host: { name: 'web-1', ip: ['::1'] },
    kubernetes: { pod_name: 'p', labels: { app: 'shop' } },
    labels: { a: 1, message: 'label', 7: 'seven', gone: null },
    service: 'shop',
    timestamp: 1_795_341_600,
    log: 'with its line break\n',
    tag: 'own',
  };
  const [row] = await rowsOf(encode(['app', 0, fields]));
  assert.ok(row);
  assert.deepEqual(
    [row.body, row.severityText, row.host, row.serviceName, row.timestamp],
    ['with its line break', 'INFO', 'web-1', 'shop', 1_795_341_600_000_000_000n],
  );
  assert.deepEqual(Object.fromEntries(row.logAttributes as Map<string, string>), {
    tag: 'own',
    'host.ip': '["::1"]',
    'kubernetes.pod_name': 'p',
    'kubernetes.labels.app': 'shop',
    a: '1',
    message: 'label',
    7: 'seven',
  });
});

test('bytes that are not UTF-8 are repaired', async () => {
  const broken = Buffer.from('gr\xf6n', 'latin1');
  const pairs = Buffer.concat([encode('message'), encode(broken), encode(broken), encode('x')]);
  const message = Buffer.concat([
    Buffer.from([0x93]),
    encode('t'),
    encode(0),
    Buffer.of(0x82),
    pairs,
  ]);
  const [one] = await eventsOf(message);
  assert.equal(one?.message, 'gr\ufffdn');
  assert.deepEqual(one.labels, { tag: 't', 'gr\ufffdn': 'x' });
});

test('a time that a field replaces, and one with metadata', async () => {
  const [one] = await eventsOf(encode(['app', [[[time, { a: 1 }], record]]]));
  assert.equal(one?.time, 1_795_341_600_005_000_001n);
  const [two] = await eventsOf(encode(['app', 5, { message: 'x', timestamp: 'unreadable' }]));
  assert.equal(two?.time, -1n);
});

test('a time in a signed number, as clients in Go write it', async () => {
  const signed = Buffer.alloc(9, 0xd3);
  signed.writeBigInt64BE(1_795_341_600n, 1);
  const message = [Buffer.from([0x93]), encode('app'), signed, encode(record)];
  const events = await eventsOf(Buffer.concat(message));
  assert.deepEqual(events, [{ ...event, time: 1_795_341_600_000_000_000n }]);
});

test('entries of several messages share the limit of what is inflated', async () => {
  const entries = gzipSync(encode([0, { message: 'x'.repeat(6000) }]));
  const message = encode(['app', entries, { compressed: 'gzip' }]);
  assert.equal((await rowsOf(message)).length, 1);
  await assert.rejects(rowsOf(Buffer.concat([message, message])), { code: 'too_large' });
});

test('what is inflated counts against the memory in flight, before it is decoded', async () => {
  const entries = encode([0, { message: 'x'.repeat(6000) }]);
  const message = encode(['app', gzipSync(entries), { compressed: 'gzip' }]);
  const full = new AppError('unavailable', 'no memory');
  const covered: number[] = [];
  const coverHeap = (bytes: number) => {
    covered.push(bytes);
    throw full;
  };
  const decode = async () => forward.decode(message, wire, { ...context, coverHeap });
  await assert.rejects(decode, full);
  assert.ok(covered.length === 1 && covered[0]! > 3 * entries.length, covered.join());
});

/** A record with one field, in the message mode. */
function messageOf(value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x93]), encode('app'), encode(0), Buffer.of(0x81), value]);
}

test('a record of too many elements is rejected alone', async () => {
  const list = (count: number) => [0, { message: `${count}`, list: Array(count).fill(0) }];
  const events = await eventsOf(encode(['app', [list(100_000), list(100_001), list(1)]]));
  assert.deepEqual(
    events.map(({ message }) => message),
    ['100000', '1'],
  );
});

test('a record of too many members is rejected alone, of which all may have one name', async () => {
  const members = Buffer.alloc(3 * 100_000, Buffer.concat([encode('a'), encode(1)]));
  const entryOf = (...values: Buffer[]) => Buffer.concat([Buffer.of(0x92, 0), ...values]);
  const large = entryOf(Buffer.from([0xdf, 0, 1, 0x86, 0xa1]), members, encode('a'), encode(1));
  const small = entryOf(encode({ message: 'x' }));
  const list = Buffer.concat([Buffer.of(0x92), encode('app'), Buffer.of(0x92), large, small]);
  const events = await eventsOf(list);
  assert.deepEqual(
    events.map(({ message }) => message),
    ['x'],
  );
});

test('keys that are maps become texts, unless their escapes grow without end', async () => {
  const nested = (depth: number) => {
    const keys = [Buffer.alloc(depth, 0x81), encode('"'), Buffer.alloc(depth, 1)];
    return messageOf(Buffer.concat([encode('a'), ...keys]));
  };
  const [one] = await eventsOf(nested(2));
  assert.equal(one?.labels['a'], '{"{\\"\\\\\\"\\":1}":1}');
  // Each level would double them: 2^30 bytes.
  const deepLimits = { ...limits, maxDepth: 64 };
  const decodeDeep = async () =>
    forward.decode(nested(30), wire, { ...context, limits: deepLimits });
  await assert.rejects(decodeDeep, { code: 'malformed', message: /a key has more than/ });
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
    test(name, async () => {
      await assert.rejects(eventsOf(message), { name: 'AppError', message: expected });
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

test('a size that has not arrived is not read from what was there before', () => {
  const reader = new MessageReader(100_000);
  const small = encode(['x'.repeat(100)]);
  const large = encode(['x'.repeat(70_000)]);
  const sent = [
    Buffer.concat([large, large.subarray(0, 50_000)]),
    // Up to the byte before the four of its size.
    Buffer.concat([large.subarray(50_000), small, large.subarray(0, 2)]),
    large.subarray(2),
  ];
  assert.deepEqual(
    sent.flatMap((part) => reader.push(part)),
    [large, large, small, large],
  );
});

test('a message may not grow without end', () => {
  const reader = new MessageReader(1000);
  reader.push(Buffer.from([0xdb, 255, 255, 255, 255]));
  assert.match(reader.fault?.message ?? '', /maxMessageBytes/);
  const many = new MessageReader(1000);
  many.push(Buffer.from([0xdd, 255, 255, 255, 255]));
  many.push(Buffer.alloc(1000));
  assert.match(many.fault?.message ?? '', /maxMessageBytes/);
});
