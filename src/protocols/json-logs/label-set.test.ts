/** The label set, reused for many events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelOrigin, LabelSet } from './label-set.ts';

test('finds keys of the current event only, after any number of clears', () => {
  const labels = new LabelSet();
  const key = Buffer.from('key');
  const add = () => labels.add(key, 0, key.length, labelOrigin.topLevel);
  // More events than stamps, so that the numbering starts over.
  for (let event = 0; event < 0x1_0001; event += 1) {
    labels.clear();
    if (event > 0 && event < 0xffff) continue;
    assert.equal(labels.count, 0);
    assert.equal(add(), 0);
    assert.equal(add(), 0);
    assert.equal(labels.count, 1, `after ${event} events`);
  }
});
