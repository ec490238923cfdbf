/** Texts of values, compared with JSON.stringify and BigInt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../model/errors.ts';
import { ValueText } from './value-text.ts';

function write(fill: (texts: ValueText) => void): string {
  const texts = new ValueText();
  fill(texts);
  return texts.bytes.toString('utf8', 0, texts.length);
}

test('quotes text like JSON.stringify', () => {
  const text = fc
    .string({ unit: 'binary', maxLength: 10_000 })
    .map((value) => value.toWellFormed());
  fc.assert(
    fc.property(text, (value) => {
      const source = Buffer.from(value);
      const quoted = write((texts) => texts.quoted(source, 0, source.length));
      assert.equal(quoted, JSON.stringify(value));
    }),
  );
});

test('writes 64-bit integers exactly for halves of any sign', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), (value) => {
      const high = Number(BigInt.asUintN(32, value >> 32n));
      const low = Number(BigInt.asUintN(32, value));
      assert.equal(
        write((texts) => texts.integer(high, low)),
        String(value),
      );
      assert.equal(
        write((texts) => texts.integer(high | 0, low | 0)),
        String(value),
      );
    }),
  );
  for (const value of [0n, -1n, 1n << 31n, -(1n << 31n), (1n << 32n) - 1n, -(1n << 32n)]) {
    const text = write((texts) => texts.integer(Number(value >> 32n), Number(value & 0xffffffffn)));
    assert.equal(text, String(value));
  }
});

test('keeps offsets of texts while more are written', () => {
  const texts = new ValueText();
  texts.ascii('first');
  const source = Buffer.alloc(100_000, 'x');
  texts.raw(source, 0, source.length);
  texts.base64(Buffer.from([1, 2, 3, 4]), 1, 4);
  assert.equal(texts.bytes.toString('latin1', 0, 5), 'first');
  assert.equal(texts.bytes.toString('latin1', 100_005, texts.length), 'AgME');
});

test('limits the size of texts', () => {
  const texts = new ValueText();
  const source = Buffer.alloc(8 * 1024 * 1024, 1);
  assert.throws(
    () => texts.quoted(source, 0, source.length),
    (error) => error instanceof AppError && error.code === 'too_large',
  );
});
