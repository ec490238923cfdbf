/** Decimal numbers: what is one, and that long texts are read in linear time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal } from './decimal.ts';

test('accepts decimal numbers only', () => {
  const accepted = ['0', '007', '+1.', '-.5', '1.5e3', '1E-3', '.5e+07'];
  const refused = ['', '.', '+', 'e5', '1e', '1.2.3', ' 1', '1 ', '0x1', '1_000', 'NaN', 'Inf'];
  assert.deepEqual(
    accepted.concat(refused).filter((text) => decimal.test(text)),
    accepted,
  );
});

test('refuses a number of a MiB with a letter at its end', () => {
  // In quadratic time this would not end.
  assert.equal(decimal.test(`${'1'.repeat(2 ** 20)}x`), false);
});
