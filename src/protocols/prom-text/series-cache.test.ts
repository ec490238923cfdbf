/** The series cache after a trim. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSeries } from '../../codec/series-labels.ts';
import { SeriesCache } from './series-cache.ts';

function label(index: number) {
  return [['__name__', `m${index}`]] as const;
}

test('facts, ids and labels stay consistent after a trim', () => {
  const cache = new SeriesCache();
  const check = (index: number) => {
    const text = Buffer.from(`m${index}`);
    let series = cache.find(text, 0, text.length);
    const isKnown = series >= 0;
    if (!isKnown) series = cache.addLabels(text, 0, text.length, label(index));
    const { id, labels } = toSeries(label(index));
    assert.equal(cache.factsOf(series).name, `m${index}`);
    assert.deepEqual(cache.ids.slice(4 * series, 4 * series + 4), id);
    assert.equal(Buffer.compare(cache.labelsOf(series), labels), 0);
    return isKnown;
  };
  assert.equal(check(0), false);
  for (let index = 1; index <= 200_000; index += 1) {
    const text = Buffer.from(`m${index}`);
    if (cache.find(text, 0, text.length) < 0) cache.addLabels(text, 0, text.length, label(index));
  }
  assert.equal(check(0), true);
  cache.trim();
  assert.equal(check(7), false);
  assert.equal(check(0), false);
  assert.equal(check(7), true);
});
