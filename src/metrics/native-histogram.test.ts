/** Decodes native histograms as senders encode them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import protobuf from 'protobufjs';
import { staleHistogram } from '../promql/source.ts';
import { decodeHistogram } from './native-histogram.ts';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Span { sint32 offset = 1; uint32 length = 2; }
  message Histogram {
    oneof count { uint64 countInt = 1; double countFloat = 2; }
    fixed64 sum = 3; sint32 schema = 4; double zeroThreshold = 5;
    oneof zero { uint64 zeroInt = 6; double zeroFloat = 7; }
    repeated Span negativeSpans = 8; repeated sint64 negativeDeltas = 9;
    repeated double negativeCounts = 10;
    repeated Span positiveSpans = 11; repeated sint64 positiveDeltas = 12;
    repeated double positiveCounts = 13;
    uint32 resetHint = 14; int64 timestamp = 15; repeated double customValues = 16;
  }
`);
const type = root.lookupType('Histogram');
const Long = protobuf.util.Long as unknown as {
  fromBits(low: number, high: number): protobuf.Long;
};

/** The bits of a double, so that a stale marker keeps them. */
function bitsOf(value: number): protobuf.Long {
  const words = new Uint32Array(Float64Array.of(value).buffer);
  return Long.fromBits(words[0]!, words[1]!);
}

const encode = (message: object) => decodeHistogram(type.encode(message).finish());

suite('native histograms', () => {
  test('integer counts are sums of deltas; empty buckets are left out', () => {
    const histogram = encode({
      countInt: 12,
      sum: bitsOf(7.5),
      schema: -1,
      zeroThreshold: 0.25,
      zeroInt: 2,
      positiveSpans: [
        { offset: -1, length: 2 },
        { offset: 3, length: 1 },
      ],
      positiveDeltas: [3, -3, 4],
      negativeSpans: [{ offset: 2, length: 1 }],
      negativeDeltas: [3],
      resetHint: 3,
      timestamp: 5,
    });
    assert.deepEqual(histogram, {
      hint: 'gauge',
      schema: -1,
      zeroThreshold: 0.25,
      zeroCount: 2,
      count: 12,
      sum: 7.5,
      positive: { indexes: [-1, 4], counts: [3, 4] },
      negative: { indexes: [2], counts: [3] },
      bounds: [],
    });
  });

  test('float counts with custom buckets', () => {
    const histogram = encode({
      countFloat: 1.5,
      sum: bitsOf(2),
      schema: -53,
      positiveSpans: [{ offset: 1, length: 1 }],
      positiveCounts: [1.5],
      customValues: [1, 2.5],
      resetHint: 2,
    });
    assert.partialDeepStrictEqual(histogram, {
      hint: 'not_reset',
      schema: -53,
      count: 1.5,
      positive: { indexes: [1], counts: [1.5] },
      bounds: [1, 2.5],
    });
  });

  test('a stale marker', () => {
    assert.equal(encode({ sum: Long.fromBits(2, 0x7ff00000) }), staleHistogram);
  });
});
