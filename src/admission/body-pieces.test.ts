/** Bodies from pieces of all sizes, and the memory they hold. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createBodyPieces } from './body.ts';

const kibibyte = 1024;

/** Bytes whose values depend on their position in the body. */
function bodyOf(bytes: number): Buffer {
  return Buffer.from(Array.from({ length: bytes }, (_, index) => (index * 7 + (index >> 8)) % 256));
}

function cut(body: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += pieces.at(-1)!.length) {
    // A piece is a view into the buffer of the read that delivered it.
    pieces.push(body.subarray(at, at + sizes[pieces.length % sizes.length]!));
  }
  return pieces;
}

suite('pieces of a body', () => {
  const cuts: readonly (readonly [string, readonly number[]])[] = [
    ['one piece', [300 * kibibyte]],
    ['single bytes', [1]],
    ['frames', [16_375, 9, 16_366, 18]],
    ['alternating small and large pieces', [1, 32 * kibibyte]],
    ['large pieces', [16 * kibibyte]],
  ];
  for (const [name, sizes] of cuts) {
    test(`joins ${name} within twice their memory`, () => {
      const body = bodyOf(300 * kibibyte);
      const pieces = createBodyPieces();
      for (const piece of cut(body, sizes)) pieces.add(piece);
      assert.ok(pieces.heldBytes() >= body.length);
      assert.ok(pieces.heldBytes() <= 2 * body.length + kibibyte, `${pieces.heldBytes()} held`);
      assert.deepEqual(pieces.whole(), body);
      const target = Buffer.alloc(body.length);
      pieces.moveTo(target);
      assert.deepEqual(target, body);
      assert.equal(pieces.heldBytes(), 0);
    });
  }

  test('does not copy a body of one piece', () => {
    const body = bodyOf(100);
    const pieces = createBodyPieces();
    pieces.add(body);
    assert.ok(pieces.whole().buffer === body.buffer);
  });

  test('joins no pieces to an empty body', () => {
    assert.equal(createBodyPieces().whole().length, 0);
  });
});

test('single bytes do not retain the reads they came from', () => {
  const pieces = createBodyPieces();
  const reads = Array.from({ length: 100 }, () => Buffer.alloc(16 * kibibyte));
  for (const read of reads) pieces.add(read.subarray(0, 1));
  assert.ok(pieces.heldBytes() <= 2 * reads.length + kibibyte, `${pieces.heldBytes()} held`);
  assert.ok(reads.every(({ buffer }) => pieces.whole().buffer !== buffer));
});
