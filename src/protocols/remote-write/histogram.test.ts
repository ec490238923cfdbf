/** Valid and invalid native histograms. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeMessage } from '../../../test/protocols/prompb-schema.ts';
import { AppError } from '../../model/errors.ts';
import { ProtobufWire } from '../../codec/protobuf-wire.ts';
import { readHistogram } from './histogram.ts';

function faultOf(bytes: Buffer): string {
  return readHistogram(new ProtobufWire(bytes), bytes.length);
}

const good = {
  countInt: 10,
  sum: 3.5,
  schema: 3,
  zeroThreshold: 0.001,
  zeroCountInt: 1,
  positiveSpans: [
    { offset: -2, length: 2 },
    { offset: 3, length: 1 },
  ],
  positiveDeltas: [3, -1, 1],
  negativeSpans: [{ offset: 0, length: 1 }],
  negativeDeltas: [1],
  resetHint: 2,
  timestamp: 1_767_319_445_123,
};
const float = {
  countFloat: 2.5,
  zeroCountFloat: 0.5,
  positiveSpans: [{ offset: 0, length: 2 }],
  positiveCounts: [1, 1],
};
const custom = {
  countInt: 3,
  schema: -53,
  positiveSpans: [{ offset: 0, length: 3 }],
  positiveDeltas: [1, 0, 0],
  customValues: [0.1, 0.5],
};

describe('accepts', () => {
  const cases: [name: string, histogram: object][] = [
    ['integer counts', good],
    ['float counts', float],
    ['float counts that do not add up', { ...float, countFloat: 1 }],
    ['explicit bucket bounds', custom],
    ['an empty message', {}],
    ['deltas beside float counts, which are ignored', { countFloat: 1, positiveDeltas: [0] }],
    [
      'a count above the buckets with a sum of NaN (observed NaN)',
      { ...good, countInt: 11, sum: NaN },
    ],
    ['the coarsest schema', { schema: -4 }],
    ['the finest schema', { schema: 8 }],
    [
      'counts beyond the range of a double',
      {
        countInt: '18446744073709551615',
        positiveSpans: [{ offset: 0, length: 2 }],
        positiveDeltas: ['9223372036854775807', 0],
      },
    ],
  ];
  for (const [name, histogram] of cases) {
    test(name, () => assert.equal(faultOf(encodeMessage('Histogram', histogram)), ''));
  }

  test('a staleness marker whatever its other fields', () => {
    const stale = Buffer.from('19020000000000f07f', 'hex');
    const bad = encodeMessage('Histogram', { countInt: 1, zeroCountInt: 5, schema: 40 });
    assert.equal(faultOf(Buffer.concat([bad, stale])), '');
    const notStale = Buffer.from('19030000000000f07f', 'hex');
    assert.notEqual(faultOf(Buffer.concat([bad, notStale])), '');
  });

  test('unpacked repeated numbers', () => {
    const spans = encodeMessage('Histogram', {
      countInt: 4,
      positiveSpans: [{ offset: 0, length: 2 }],
    });
    const deltas = Buffer.from([0x60, 4, 0x60, 0]);
    assert.equal(faultOf(Buffer.concat([spans, deltas])), '');
    const counts = encodeMessage('Histogram', {
      countFloat: 1,
      negativeSpans: [{ offset: 0, length: 1 }],
    });
    assert.equal(faultOf(Buffer.concat([counts, Buffer.from('510000000000000000', 'hex')])), '');
  });

  test('unknown fields', () => {
    const unknown = Buffer.from([0x88, 0x01, 5, 0x92, 0x01, 1, 0]);
    assert.equal(faultOf(Buffer.concat([encodeMessage('Histogram', good), unknown])), '');
  });
});

describe('rejects', () => {
  const span = { offset: 0, length: 1 };
  const cases: [name: string, histogram: object, fault: RegExp][] = [
    ['buckets above the count', { ...good, countInt: 9 }, /more than its count/],
    ['buckets below the count', { ...good, countInt: 11 }, /less than its count/],
    ['a count without buckets', { countInt: 1, sum: Infinity }, /less than its count/],
    ['buckets above the count with a sum of NaN', { ...good, countInt: 9, sum: NaN }, /more than/],
    ['a zero bucket above the count', { countInt: 1, zeroCountInt: 2 }, /more than/],
    ['a schema below the range', { schema: -5 }, /schema is unknown/],
    ['a schema above the range', { schema: 9 }, /schema is unknown/],
    ['a span without a bucket', { positiveSpans: [span] }, /not as many/],
    ['a bucket without a span', { countInt: 9, negativeDeltas: [1] }, /not as many/],
    [
      'float buckets with an integer count',
      { countInt: 1, positiveSpans: [span], positiveCounts: [1] },
      /not as many/,
    ],
    [
      'overlapping spans',
      { countInt: 9, positiveSpans: [span, { offset: -1, length: 1 }], positiveDeltas: [1, 0] },
      /begins before/,
    ],
    ['a negative bucket', { countInt: 9, positiveSpans: [span], positiveDeltas: [-1] }, /negative/],
    [
      'a negative float bucket',
      { countFloat: 9, positiveSpans: [span], positiveCounts: [-1] },
      /negative/,
    ],
    ['a negative float count', { countFloat: -1 }, /negative/],
    ['bounds out of order', { ...custom, customValues: [0.5, 0.1] }, /ascend/],
    ['a NaN bound', { ...custom, customValues: [NaN, 1] }, /ascend/],
    ['an infinite bound', { ...custom, customValues: [0, Infinity] }, /ascend/],
    ['too few bounds', { ...custom, customValues: [0.1] }, /too few bounds/],
  ];
  for (const [name, histogram, fault] of cases) {
    test(name, () => assert.match(faultOf(encodeMessage('Histogram', histogram)), fault));
  }
});

test('leaves its exact time in the wire, also before 1970', () => {
  const bytes = encodeMessage('Histogram', { timestamp: -2, zeroCountInt: 0 });
  const wire = new ProtobufWire(bytes);
  readHistogram(wire, bytes.length);
  assert.deepEqual([wire.low, wire.high], [0xffff_fffe, 0xffff_ffff]);
});

describe('throws for malformed bytes', () => {
  const cases: [name: string, hex: string, message: RegExp][] = [
    ['a count of the wrong type', '0900', /field 1 of a histogram in wire type 1 at byte 0$/],
    ['a span of wire type varint', '4001', /field 8 of a histogram in wire type 0 at byte 0$/],
    ['a truncated delta', '4880', /beyond the end of its message at byte 1$/],
    ['packed counts of the wrong size', '6a0401020304', /beyond .* at byte 2$/],
    ['a span beyond its message', '5a050801', /beyond .* at byte 1$/],
    [
      'a span with an offset of wire type bytes',
      '5a030a0100',
      /field 1 of a span in wire type 2 at byte 2$/,
    ],
  ];
  for (const [name, hex, message] of cases) {
    test(name, () => {
      assert.throws(
        () => faultOf(Buffer.from(hex, 'hex')),
        (error) => {
          assert.ok(error instanceof AppError);
          assert.equal(error.code, 'malformed');
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
