/** GELF without HTTP: framing over TCP, chunks over UDP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { DelimitedFrames } from '../../../codec/delimited-frames.ts';
import { GelfDatagrams } from './gelf-frames.ts';

const connections: readonly (readonly [string, readonly string[]])[] = [
  ['{"a":1}\0{"b":2}\0\0{"c":3}', ['{"a":1}', '{"b":2}', '{"c":3}']],
  ['0123456789\0x\0', ['0123456789', 'x']],
  ['0123456789abc\0x\0', ['0123456789', 'x']],
  ['0123456789abcdefghijklmnopq', ['0123456789']],
];

for (const [bytes, expected] of connections) {
  test(`splits ${JSON.stringify(bytes)} however it arrives`, () => {
    for (let size = 1; size <= bytes.length; size += 1) {
      const reader = new DelimitedFrames(10, 0);
      const frames: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        frames.push(...reader.push(Buffer.from(bytes.slice(at, at + size))));
        assert.ok(reader.partialBytes <= 10);
      }
      const last = reader.end();
      if (last !== undefined) frames.push(last);
      assert.deepEqual(frames.map(String), expected, `in pieces of ${size}`);
    }
  });
}

function chunk(id: number, number: number, count: number, content: string | Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0x1e0f);
  head.writeUInt32BE(id, 2);
  head.set([number, count], 10);
  return Buffer.concat([head, Buffer.from(content)]);
}

test('datagrams: plain, compressed, and in chunks of any order', () => {
  let nowMs = 0;
  let incomplete = 0;
  const datagrams = new GelfDatagrams(
    100,
    () => nowMs,
    () => (incomplete += 1),
  );
  const add = (bytes: Buffer, sender = 'a') => datagrams.add(bytes, sender)?.toString();
  assert.equal(add(Buffer.from('{}')), '{}');
  assert.equal(add(gzipSync('{"g":1}')), '{"g":1}');
  assert.equal(add(deflateSync('{"z":1}')), '{"z":1}');
  assert.equal(add(chunk(1, 1, 2, 'b')), undefined);
  assert.equal(add(chunk(1, 1, 2, 'b')), undefined, 'a repeated chunk');
  assert.equal(add(chunk(1, 0, 2, 'x'), 'b'), undefined, 'the same id of another sender');
  assert.equal(add(chunk(1, 0, 2, 'a')), 'ab');
  const zipped = gzipSync('{"g":2}');
  add(chunk(2, 0, 2, zipped.subarray(0, 9)));
  assert.equal(add(chunk(2, 1, 2, zipped.subarray(9))), '{"g":2}');
  assert.equal(add(chunk(3, 5, 2, 'x')), undefined, 'a number beyond the count');
  assert.equal(add(chunk(3, 0, 200, 'x')), undefined, 'more than 128 chunks');
  const bomb = gzipSync(Buffer.alloc(1000));
  assert.equal(add(bomb), bomb.toString(), 'a bomb is not inflated');
  nowMs = 6000;
  assert.equal(add(chunk(4, 0, 2, 'x')), undefined);
  assert.equal(incomplete, 1, 'of the other sender');
  for (let id = 10; id < 2000; id += 1) add(chunk(id, 0, 2, 'x'));
  assert.ok(incomplete > 900, `${incomplete}`);
  add(chunk(9999, 0, 3, 'x'.repeat(101)));
  assert.equal(add(chunk(9999, 1, 3, 'x')), undefined, 'more bytes than a message may have');
});

test('parts of one id that disagree about their count are different messages', () => {
  const datagrams = new GelfDatagrams(
    100,
    () => 0,
    () => {},
  );
  const add = (bytes: Buffer) => datagrams.add(bytes, 'a')?.toString();
  assert.equal(add(chunk(1, 1, 2, 'b')), undefined);
  assert.equal(add(chunk(1, 5, 6, 'x')), undefined);
  assert.equal(add(chunk(1, 0, 2, 'a')), 'ab');
});

test('unfinished messages take bounded memory: the oldest are dropped first', () => {
  const mebibyte = 1024 * 1024;
  let incomplete = 0;
  const datagrams = new GelfDatagrams(
    2 * mebibyte,
    () => 0,
    () => (incomplete += 1),
  );
  const part = Buffer.alloc(mebibyte, 'x');
  for (let id = 0; id < 100; id += 1) datagrams.add(chunk(id, 0, 2, part), 'a');
  assert.ok(incomplete >= 100 - 34, `${incomplete} were dropped`);
  assert.equal(datagrams.add(chunk(0, 1, 2, 'x'), 'a'), undefined);
  assert.equal(datagrams.add(chunk(99, 1, 2, 'x'), 'a')?.length, mebibyte + 1);
});
