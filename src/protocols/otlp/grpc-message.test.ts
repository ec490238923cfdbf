/** gRPC framing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../model/errors.ts';
import { frame, frameHeadBytes, unframe } from './grpc-message.ts';

const plain = { coding: 'identity' } as const;
const gzip = { coding: 'gzip' } as const;

test('unframes a framed message as a view of the body', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1000 }), (bytes) => {
      const body = frame(bytes);
      const { message, coding } = unframe(body, gzip);
      assert.equal(coding, 'identity');
      assert.deepEqual(message, Buffer.from(bytes));
      assert.equal(message.buffer, body.buffer);
    }),
  );
});

test('applies the coding of the call only if the flag is set', () => {
  const body = frame(Buffer.from('zipped'));
  body.writeUInt8(1, 0);
  assert.deepEqual(unframe(body, gzip), { message: Buffer.from('zipped'), coding: 'gzip' });
});

test('reads the length in big-endian order', () => {
  assert.deepEqual(
    frame(Buffer.alloc(258)).subarray(0, frameHeadBytes),
    Buffer.from('\0\0\0\x01\x02'),
  );
});

const broken = [
  { name: 'nothing', body: [], format: plain, message: /ended without one/ },
  { name: 'a short head', body: [0, 0, 0, 0], format: plain, message: /in the head/ },
  {
    name: 'a short message',
    body: [0, 0, 0, 0, 2, 1],
    format: plain,
    message: /1 bytes came of 2/,
  },
  { name: 'a byte after it', body: [0, 0, 0, 0, 0, 1], format: plain, message: /1 bytes follow/ },
  { name: 'a flag of 2', body: [2, 0, 0, 0, 0], format: gzip, message: /flag is 2/ },
  { name: 'no coding', body: [1, 0, 0, 0, 0], format: plain, message: /names no compression/ },
];

for (const { name, body, format, message } of broken) {
  test(`refuses ${name}`, () => {
    assert.throws(
      () => unframe(Buffer.from(body), format),
      (error) =>
        error instanceof AppError && error.code === 'malformed' && message.test(error.message),
    );
  });
}

test('returns one message or fails with malformed for any body', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      const body = Buffer.from(bytes);
      try {
        const { message } = unframe(body, gzip);
        assert.equal(message.length, body.readUInt32BE(1));
        assert.equal(message.length, body.length - frameHeadBytes);
      } catch (error) {
        assert.ok(error instanceof AppError && error.code === 'malformed', String(error));
      }
    }),
  );
});
