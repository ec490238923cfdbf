/** Stored native histograms, of which a receiver has not checked every number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProtobufWriter } from '../codec/protobuf-writer.ts';
import { add } from '../promql/histogram/histogram-sum.ts';
import { decodeHistogram } from './native-histogram.ts';

test('adds a histogram whose zero threshold is NaN', () => {
  const writer = new ProtobufWriter(9);
  const nan = Buffer.alloc(8);
  nan.writeDoubleLE(Number.NaN);
  writer.fixed64(5, nan.readUInt32LE(0), nan.readUInt32LE(4));
  const decoded = decodeHistogram(writer.finish());
  // Widening zero buckets until they are equal would not end.
  assert.equal(decoded.zeroThreshold, 0);
  const other = { ...decoded, zeroThreshold: 0.5, zeroCount: 3, count: 3 };
  assert.equal(add(decoded, other).histogram.zeroCount, 3);
});
