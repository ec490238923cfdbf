/** Frames on a byte stream. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ownMemory } from '../std/free-memory.ts';
import type { Message } from './channel.ts';
import { encodeMessage, FrameReader } from './stream.ts';

const id = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const method = fc.string({ unit: 'binary', maxLength: 50 }).map((wild) => wild.toWellFormed());
const view = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const message = fc.record(
  { id, method, input: fc.tuple(view, fc.string()) },
  { noNullPrototype: true },
);

/** Transfers the view of each message. */
function toBytes(messages: readonly { readonly input: readonly [Buffer, string] }[]): Buffer {
  const encoded = messages.map((one) =>
    encodeMessage(one as unknown as Message, [one.input[0].buffer as ArrayBuffer]),
  );
  return Buffer.concat(encoded.flatMap(({ head, tail }) => [head, tail]));
}

test('reads back the messages whatever the chunks', () => {
  const chunkSize = fc.integer({ min: 1, max: 100 });
  fc.assert(
    fc.property(fc.array(message), chunkSize, (messages, size) => {
      const bytes = toBytes(messages);
      const reader = new FrameReader();
      const read: Message[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        reader.push(bytes.subarray(at, at + size), (one) => read.push(one));
      }
      assert.deepEqual(read, messages);
    }),
  );
});

test('gives a transferred view its own memory', () => {
  const payload = Buffer.from('payload');
  const bytes = toBytes([{ input: [payload, ''] }]);
  new FrameReader().push(bytes, (read) => {
    const [got] = (read as { readonly input: readonly Uint8Array[] }).input;
    assert.equal(ownMemory(got!)?.byteLength, payload.length);
  });
});

test('refuses invalid lengths', () => {
  for (const offset of [0, 4]) {
    const header = Buffer.alloc(8);
    header.writeUInt32LE(2 ** 32 - 1, offset);
    assert.throws(
      () => new FrameReader().push(header, () => assert.fail()),
      /cannot read a (text|view)/,
    );
  }
});
