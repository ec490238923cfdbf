/** Splits bytes into lines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Line, LineSplitter } from './lines.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\n', '\r\n', '\u0000') });

test('splits lines regardless of chunks', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(40)), (content, cuts) => {
      const bytes = Buffer.from(content);
      const lines = split(cut(bytes, cuts));
      const expected = content.split('\n');
      if (expected.at(-1) === '') expected.pop();
      assert.deepEqual(lines.map(toText), expected);
      assert.deepEqual(
        lines.map(({ number }) => number),
        expected.map((_, index) => index + 1),
      );
      for (const [index, { endOffset }] of lines.entries()) {
        const before = `${expected.slice(0, index + 1).join('\n')}\n`;
        assert.equal(endOffset, Math.min(Buffer.byteLength(before), bytes.length));
      }
    }),
  );
});

test('drops the bytes of a line over the limit and keeps its neighbours', () => {
  const bytes = Buffer.from('one\n0123456789\ntwo');
  for (const chunks of [[bytes], cut(bytes, [6, 3]), cut(bytes, [4, 5, 3])]) {
    const lines = split(chunks, new LineSplitter(9));
    assert.deepEqual(lines.map(toText), ['one', undefined, 'two']);
    assert.equal(lines[1]?.endOffset, 15);
  }
});

test('drops a byte order mark at the start', () => {
  const lines = split([Buffer.from('\ufeffa\n\ufeffb')]);
  assert.deepEqual(lines.map(toText), ['a', '\ufeffb']);
  assert.equal(lines[0]?.endOffset, 5);
});

test('copies an unfinished line', () => {
  const splitter = new LineSplitter();
  const chunk = Buffer.from('abc');
  assert.deepEqual(splitter.push(chunk), []);
  chunk.fill('x');
  assert.deepEqual(splitter.push(Buffer.from('d\n')).map(toText), ['abcd']);
});

function split(chunks: readonly Buffer[], splitter = new LineSplitter()): Line[] {
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
}

function toText({ bytes }: Line): string | undefined {
  return bytes?.toString();
}

function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...chunks, bytes.subarray(at)];
}
