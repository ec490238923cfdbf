/** Frames out of chunks of any size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ownMemory } from '../std/free-memory.ts';
import { encodeFrame, type Frame, frameHeaderBytes, FrameReader } from './frames.ts';

const number = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const text = fc.string({ unit: 'binary', maxLength: 50 }).map((wild) => wild.toWellFormed());
const tail = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const frame = fc.record({ id: number, kind: number, text, tail }, { noNullPrototype: true });

function toBytes(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.flatMap((one) => [encodeFrame(one, one.tail.length), one.tail]));
}

test('frames come out as they went in, whatever the chunks', () => {
  const chunkSize = fc.integer({ min: 1, max: 100 });
  fc.assert(
    fc.property(fc.array(frame), chunkSize, (frames, size) => {
      const bytes = toBytes(frames);
      const reader = new FrameReader();
      const read: Frame[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        reader.push(bytes.subarray(at, at + size), (one) => read.push(one));
      }
      assert.deepEqual(read, frames);
    }),
  );
});

test('a tail stands alone on its memory', () => {
  const payload = Buffer.from('payload');
  const tails: Buffer[] = [];
  const bytes = toBytes([{ id: 1, kind: 2, text: 'a', tail: payload }]);
  new FrameReader().push(bytes, (one) => tails.push(one.tail));
  assert.equal(tails[0] && ownMemory(tails[0])?.byteLength, payload.length);
});

test('lengths that no frame has are refused', () => {
  for (const offset of [0, 4]) {
    const header = Buffer.alloc(frameHeaderBytes);
    header.writeUInt32LE(2 ** 32 - 1, offset);
    assert.throws(
      () => new FrameReader().push(header, () => assert.fail()),
      /cannot read a (text|tail)/,
    );
  }
});
