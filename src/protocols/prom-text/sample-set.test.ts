/** The set of samples compared with a set of strings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SampleSet } from './sample-set.ts';

test('accepts each sample once per push', () => {
  const word = fc.integer({ min: 0, max: 2 });
  const sample = fc.tuple(word, word, word, word, word, fc.constantFrom(-1, 0, 1));
  const set = new SampleSet();
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 300 }), (samples) => {
      const seen = new Set<string>();
      for (const [a, b, c, d, low, high] of samples) {
        const key = JSON.stringify([a, b, c, d, low, high]);
        assert.equal(set.add(Uint32Array.of(9, a, b, c, d), 1, { low, high }), !seen.has(key));
        seen.add(key);
      }
      assert.equal(set.size, seen.size);
      set.clear();
      assert.equal(set.size, 0);
    }),
  );
});

test('grows, and shrinks when cleared', () => {
  const set = new SampleSet();
  const ids = new Uint32Array(4);
  const time = { low: 0, high: 0 };
  for (let round = 0; round < 2; round += 1) {
    for (let i = 0; i < 100_000; i += 1) {
      ids[0] = i;
      assert.ok(set.add(ids, 0, time));
    }
    for (let i = 0; i < 100_000; i += 1) {
      ids[0] = i;
      assert.ok(!set.add(ids, 0, time));
    }
    set.clear();
  }
});
