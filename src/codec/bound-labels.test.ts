/** Spellings of numbers in `le` and `quantile`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { spellBounds } from './bound-labels.ts';

describe('bounds of buckets and quantiles', () => {
  const bounds: [metric: string, label: string, sent: string, stored: string][] = [
    ['h_bucket', 'le', '1', '1.0'],
    ['h_bucket', 'le', '1.0', '1.0'],
    ['h_bucket', 'le', '1.', '1.0'],
    ['h_bucket', 'le', '+1e0', '1.0'],
    ['h_bucket', 'le', '-0', '0.0'],
    ['h_bucket', 'le', '.50', '0.5'],
    ['h_bucket', 'le', '-1', '-1.0'],
    ['h_bucket', 'le', '1E5', '100000.0'],
    ['h_bucket', 'le', '1000000', '1e+06'],
    ['h_bucket', 'le', '1234567.5', '1.2345675e+06'],
    ['h_bucket', 'le', '0.0001', '0.0001'],
    ['h_bucket', 'le', '0.00001', '1e-05'],
    ['h_bucket', 'le', '1e100', '1e+100'],
    ['h_bucket', 'le', 'inf', '+Inf'],
    ['h_bucket', 'le', '+Inf', '+Inf'],
    ['h_bucket', 'le', '-infinity', '-Inf'],
    ['h_bucket', 'le', '1e999', '1e999'],
    ['h_bucket', 'le', '0x10', '0x10'],
    ['h_bucket', 'le', ' 1', ' 1'],
    ['h_bucket', 'le', 'x', 'x'],
    ['h_bucket', 'code', '1', '1'],
    ['trains', 'le', '1', '1'],
    ['s', 'quantile', '1', '1.0'],
    ['s', 'quantile', '0', '0.0'],
    ['s', 'quantile', '0.990', '0.99'],
    ['s', 'quantile', '99', '99'],
    ['s', 'quantile', '-1', '-1'],
    ['s', 'quantile', 'p99', 'p99'],
  ];
  for (const [metric, label, sent, stored] of bounds) {
    test(`spells ${label}="${sent}" of ${metric} as "${stored}"`, () => {
      const name = ['__name__', metric] as const;
      assert.deepEqual(spellBounds([name, [label, sent]]), [name, [label, stored]]);
    });
  }
});
