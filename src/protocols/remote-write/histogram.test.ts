/** Which native histograms are kept, and which are said to be wrong, and why. */
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

describe('histograms that are kept', () => {
  const cases: [name: string, histogram: object][] = [
    ['with integer counts', good],
    ['with float counts', float],
    ['with float counts that do not add up', { ...float, countFloat: 1 }],
    ['with bounds of its own, the last bucket without one', custom],
    ['without anything', {}],
    [
      'with float counts and deltas, which no reader looks at',
      { countFloat: 1, positiveDeltas: [0] },
    ],
    ['with a count above its buckets, since NaN was observed', { ...good, countInt: 11 }],
    ['of the coarsest schema', { schema: -4 }],
    ['of the finest schema', { schema: 8 }],
    [
      'with counts that no double holds',
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

  test('of a series that has ended, whatever else it says', () => {
    const stale = Buffer.from('19020000000000f07f', 'hex');
    const bad = encodeMessage('Histogram', { countInt: 1, zeroCountInt: 5, schema: 40 });
    assert.equal(faultOf(Buffer.concat([bad, stale])), '');
    const notStale = Buffer.from('19030000000000f07f', 'hex');
    assert.notEqual(faultOf(Buffer.concat([bad, notStale])), '');
  });

  test('with numbers one by one in place of packed ones', () => {
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

  test('with fields that are not known', () => {
    const unknown = Buffer.from([0x88, 0x01, 5, 0x92, 0x01, 1, 0]);
    assert.equal(faultOf(Buffer.concat([encodeMessage('Histogram', good), unknown])), '');
  });
});

describe('histograms that are rejected', () => {
  const span = { offset: 0, length: 1 };
  const cases: [name: string, histogram: object, fault: RegExp][] = [
    ['more in its buckets than its count', { ...good, countInt: 9 }, /more than its count/],
    ['more in its zero bucket than its count', { countInt: 1, zeroCountInt: 2 }, /more than/],
    ['a schema below all', { schema: -5 }, /schema is unknown/],
    ['a schema above all', { schema: 9 }, /schema is unknown/],
    ['a span without a bucket', { positiveSpans: [span] }, /not as many/],
    ['a bucket without a span', { countInt: 9, negativeDeltas: [1] }, /not as many/],
    [
      'float buckets of an integer count',
      { countInt: 1, positiveSpans: [span], positiveCounts: [1] },
      /not as many/,
    ],
    [
      'overlapping spans',
      { countInt: 9, positiveSpans: [span, { offset: -1, length: 1 }], positiveDeltas: [1, 0] },
      /begins before/,
    ],
    [
      'a bucket below zero',
      { countInt: 9, positiveSpans: [span], positiveDeltas: [-1] },
      /negative/,
    ],
    [
      'a float bucket below zero',
      { countFloat: 9, positiveSpans: [span], positiveCounts: [-1] },
      /negative/,
    ],
    ['a float count below zero', { countFloat: -1 }, /negative/],
    ['bounds out of order', { ...custom, customValues: [0.5, 0.1] }, /ascend/],
    ['a bound that is no number', { ...custom, customValues: [NaN, 1] }, /ascend/],
    ['an endless bound', { ...custom, customValues: [0, Infinity] }, /ascend/],
    ['too few bounds', { ...custom, customValues: [0.1] }, /too few bounds/],
  ];
  for (const [name, histogram, fault] of cases) {
    test(name, () => assert.match(faultOf(encodeMessage('Histogram', histogram)), fault));
  }
});

test('leaves its time in the wire, exact and below zero', () => {
  const bytes = encodeMessage('Histogram', { timestamp: -2, zeroCountInt: 0 });
  const wire = new ProtobufWire(bytes);
  readHistogram(wire, bytes.length);
  assert.deepEqual([wire.low, wire.high], [0xffff_fffe, 0xffff_ffff]);
});

describe('bytes that are no histogram', () => {
  const cases: [name: string, hex: string, message: RegExp][] = [
    ['a count of the wrong type', '0900', /field 1 of a histogram in wire type 1 at byte 0$/],
    ['a span that is a number', '4001', /field 8 of a histogram in wire type 0 at byte 0$/],
    ['a delta that is cut off', '4880', /beyond the end of its message at byte 1$/],
    ['packed counts that are no doubles', '6a0401020304', /beyond .* at byte 2$/],
    ['a span beyond its message', '5a050801', /beyond .* at byte 1$/],
    ['a span whose offset is text', '5a030a0100', /field 1 of a span in wire type 2 at byte 2$/],
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
