/** Exponential histograms as native ones, alone and added up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProtobufWire } from '../../../codec/protobuf-wire.ts';
import { MessageBuilder } from '../message-builder.ts';
import { type Exponential, faultOf, NativeHistogram } from './native-histogram.ts';

const blank: Exponential = {
  scale: 0,
  count: 0,
  sum: 0,
  zeroCount: 0,
  zeroThreshold: 0,
  positive: { offset: 0, counts: [] },
  negative: { offset: 0, counts: [] },
};

/** Schema, and counts by bucket of the positive side. */
function read(histogram: NativeHistogram): { schema: number; buckets: [number, number][] } {
  const message = histogram.encode(new MessageBuilder(16), 0, Buffer.alloc(8));
  const wire = new ProtobufWire(Buffer.from(message));
  let schema = 0;
  const indices: number[] = [];
  const buckets: [number, number][] = [];
  let at = 0;
  while (wire.at < wire.bytes.length) {
    const tag = wire.tag(wire.bytes.length);
    if (tag === 0x20) schema = wire.sint64(wire.bytes.length);
    else if (tag === 0x5a) {
      const end = wire.lengthEnd(wire.bytes.length);
      wire.tag(end);
      at += wire.sint64(end);
      wire.tag(end);
      for (let left = wire.uint64(end); left > 0; left -= 1) indices.push(at++);
    } else if (tag === 0x62) {
      const end = wire.lengthEnd(wire.bytes.length);
      let count = 0;
      for (const index of indices) buckets.push([index, (count += wire.sint64(end))]);
    } else wire.skip(tag, wire.bytes.length);
  }
  return { schema, buckets: buckets.filter(([, count]) => count > 0) };
}

function histogramOf(...parts: Partial<Exponential>[]): NativeHistogram {
  const histogram = new NativeHistogram();
  for (const part of parts) histogram.add({ ...blank, ...part });
  return histogram;
}

test('numbers buckets by their upper bound, in spans over gaps', () => {
  const positive = { offset: -1, counts: [1, 2, 0, 0, 0, 0, 3] };
  const buckets = [
    [0, 1],
    [1, 2],
    [6, 3],
  ];
  assert.deepEqual(read(histogramOf({ positive })), { schema: 0, buckets });
});

test('merges buckets of a scale above 8', () => {
  const positive = { offset: 3, counts: [1, 1, 1, 1] };
  assert.deepEqual(read(histogramOf({ scale: 9, positive })), {
    schema: 8,
    buckets: [
      [2, 1],
      [3, 2],
      [4, 1],
    ],
  });
});

test('adds histograms at the coarser of their scales', () => {
  const fine = { scale: 1, positive: { offset: 0, counts: [1, 1, 1] } };
  const coarse = { scale: 0, positive: { offset: 1, counts: [5] } };
  const buckets = [
    [1, 2],
    [2, 6],
  ];
  assert.deepEqual(read(histogramOf(fine, coarse)), { schema: 0, buckets });
  assert.deepEqual(read(histogramOf(coarse, fine)), { schema: 0, buckets });
});

test('moves buckets into a wider zero bucket', () => {
  const positive = { offset: -3, counts: [4, 5, 6] };
  const wide = histogramOf({ positive, zeroThreshold: 0.01 }, { zeroThreshold: 0.5 });
  assert.deepEqual(read(wide).buckets, [[0, 6]]);
});

test('gets coarser instead of growing without bound', () => {
  const counts = Array.from({ length: 4000 }, () => 1);
  const { schema, buckets } = read(histogramOf({ scale: 8, positive: { offset: 0, counts } }));
  assert.ok(schema < 8 && buckets.length <= 1000);
  assert.equal(
    buckets.reduce((sum, [, count]) => sum + count, 0),
    4000,
  );
});

test('finds scales below -4 and counts that are not those of the buckets', () => {
  assert.match(faultOf({ ...blank, scale: -5 }), /scale -5/);
  assert.match(faultOf({ ...blank, count: 1, zeroCount: 2 }), /more than its count/);
  assert.match(faultOf({ ...blank, count: 3, zeroCount: 2 }), /less than its count/);
  assert.equal(faultOf({ ...blank, count: 3, zeroCount: 2, sum: Number.NaN }), '');
  assert.equal(faultOf({ ...blank, count: 2, zeroCount: 2 }), '');
});
