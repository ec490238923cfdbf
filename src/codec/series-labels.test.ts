/** The canonical form of labels, and the series id derived from it, which must never change. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  compareUtf8,
  encodeLabels,
  toCanonicalLabels,
  toSeries,
  toSortedLabels,
} from './series-labels.ts';
import type { Label } from '../model/metric-plan.ts';

const limits = { maxLabels: 3, maxLabelNameLength: 8, maxLabelValueLength: 5 };

describe('canonical labels', () => {
  const name: Label = ['__name__', 'up'];
  const good: [name: string, labels: Label[], expected: Label[]][] = [
    ['only a metric name', [name], [name]],
    ['sorted', [['b', '2'], name, ['a', '1']], [name, ['a', '1'], ['b', '2']]],
    ['upper case before underscores', [name, ['Z', '1']], [['Z', '1'], name]],
    ['without empty values', [name, ['a', ''], ['a', '1'], ['', '']], [name, ['a', '1']]],
    [
      'at the limits',
      [name, ['a'.repeat(8), 'b'.repeat(5)], ['z', 'z']],
      [name, ['a'.repeat(8), 'b'.repeat(5)], ['z', 'z']],
    ],
  ];
  for (const [title, labels, expected] of good) {
    test(title, () => assert.deepEqual(toCanonicalLabels(labels, limits), expected));
  }

  const bad: [labels: Label[], reason: string][] = [
    [[], 'no metric name'],
    [[['a', '1']], 'no metric name'],
    [[['__name__', '']], 'no metric name'],
    [[name, ['', '1']], 'empty label name'],
    [[name, ['a', '1'], ['a', '2']], 'repeated label name'],
    [[name, name], 'repeated label name'],
    [[name, ['a', '1'], ['b', '1'], ['c', '1']], 'too many labels'],
    [[name, ['a'.repeat(9), '1']], 'label name too long'],
    [[['__name__', 'abcdef']], 'label value too long'],
  ];
  for (const [labels, reason] of bad) {
    test(`${JSON.stringify(labels)}: ${reason}`, () => {
      assert.equal(toCanonicalLabels(labels, limits), reason);
    });
  }

  test('accepts exemplar labels without a metric name, and none at all', () => {
    assert.deepEqual(toSortedLabels([], limits), []);
    assert.deepEqual(
      toSortedLabels(
        [
          ['b', '1'],
          ['a', ''],
        ],
        limits,
      ),
      [['b', '1']],
    );
    assert.equal(toSortedLabels([['', '1']], limits), 'empty label name');
  });
});

test('compares text by its UTF-8 bytes', () => {
  const text = fc.string({ unit: 'grapheme-composite', maxLength: 4 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
      assert.equal(Math.sign(compareUtf8(a, b)), expected);
    }),
  );
  assert.ok(compareUtf8('\uffff', '\u{10000}') < 0);
});

/** Stored tables contain these ids: with another derivation stored series are no longer found. */
test('derives the id that stored tables contain', () => {
  const { id, labels } = toSeries([
    ['__name__', 'up'],
    ['größe', 'x'.repeat(200)],
  ]);
  const text = Buffer.concat([
    Buffer.from([2, 8]),
    Buffer.from('__name__'),
    Buffer.from([2]),
    Buffer.from('up'),
    Buffer.from([7]),
    Buffer.from('größe'),
    Buffer.from([0xc8, 0x01]),
    Buffer.alloc(200, 'x'),
  ]);
  assert.deepEqual(Buffer.from(labels), text);
  const digest = createHash('sha256').update(text).digest();
  assert.deepEqual(
    [...id],
    [0, 4, 8, 12].map((at) => digest.readUInt32LE(at)),
  );
});

test('encodes no labels as an empty map', () => {
  assert.deepEqual([...encodeLabels([])], [0]);
});
