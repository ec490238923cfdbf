/** Labels of values, and ticks at round values of the unit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatValue, parseValue, tickSteps, valueFormat } from './value-format.ts';

test('large and small values have an exponent', () => {
  assert.deepEqual([1e308, -1.234567e15, 9.9e14, 1234.5, 0.0001, -0, -Infinity].map(formatValue), [
    '1e+308',
    '-1.2346e+15',
    '990T',
    '1.2345K',
    '1.00e-4',
    '0',
    '−∞',
  ]);
});

test('infinities are read as Prometheus writes them', () => {
  const texts = ['+Inf', '-Inf', '1.5e+00', 'NaN'];
  assert.deepEqual(texts.map(parseValue), [Infinity, -Infinity, 1.5, NaN]);
});

test('ticks of bytes and seconds have short labels', () => {
  const labelsOf = (unit: string, from: number, until: number) =>
    tickSteps(unit)!
      .filter((step) => step >= from && step <= until)
      .map((step) => valueFormat(unit)(3 * step));
  assert.deepEqual(labelsOf('bytes', 256, 4096), ['768 B', '1.5 KiB', '3 KiB', '6 KiB', '12 KiB']);
  assert.deepEqual(labelsOf('bytes/s', 0.2, 2), ['0.6 B/s', '1.5 B/s', '3 B/s', '6 B/s']);
  assert.deepEqual(labelsOf('seconds', 0.05, 1), ['150 ms', '300 ms', '600 ms', '1.5 s', '3 s']);
  assert.deepEqual(labelsOf('seconds', 600, 86_400), [
    '30 min',
    '45 min',
    '90 min',
    '3 h',
    '6 h',
    '9 h',
    '18 h',
    '36 h',
    '3 d',
  ]);
});
