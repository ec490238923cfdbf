/** The sections of `metrics/1`: written, then read back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type MetricRows, readMetricRows } from '../../test/protocols/read-metric-rows.ts';
import { metricHeaderBytes, toDay } from './metric-rows.ts';
import { MetricWriter, type Time } from './metric-writer.ts';
import { encodeLabels } from './series-labels.ts';

const anyId = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
const anyTimeMs = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const anyBits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const anyLabels = fc.array(fc.tuple(anyText, anyText), { maxLength: 3 });

const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const plain = { noNullPrototype: true };

const anyRows = fc.record(
  {
    series: fc.array(fc.record({ id: anyId, day: fc.nat(65_535), labels: anyLabels }, plain)),
    samples: fc.array(fc.record({ id: anyId, timeMs: anyTimeMs, valueBits: anyBits }, plain), {
      maxLength: 20,
    }),
    histograms: fc.array(
      fc.record(
        { id: anyId, timeMs: anyTimeMs, message: fc.uint8Array({ maxLength: 300 }).map(toBuffer) },
        plain,
      ),
    ),
    exemplars: fc.array(
      fc.record({ id: anyId, timeMs: anyTimeMs, valueBits: anyBits, labels: anyLabels }, plain),
    ),
    metadata: fc.array(
      fc.record({ name: anyText, type: anyText, unit: anyText, help: anyText }, plain),
    ),
  },
  plain,
);
type Rows = typeof anyRows extends fc.Arbitrary<infer T> ? T : never;

function toWords(value: bigint): Uint32Array {
  // The id is at an offset, as in an array of the ids of many series.
  return Uint32Array.from([
    9,
    ...[0n, 32n, 64n, 96n].map((by) => Number((value >> by) & 0xffff_ffffn)),
  ]);
}

function toTime(value: bigint): Time {
  const unsigned = BigInt.asUintN(64, value);
  return { low: Number(unsigned & 0xffff_ffffn), high: Number(unsigned >> 32n) };
}

function toBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function write(writer: MetricWriter, sent: Rows): void {
  for (const { id, day, labels } of sent.series) {
    writer.series(toWords(id), 1, day, encodeLabels(labels));
  }
  for (const { id, timeMs, valueBits } of sent.samples) {
    const bits = toBytes(valueBits);
    writer.sampleBits(toWords(id), 1, toTime(timeMs), bits.readInt32LE(0), bits.readInt32LE(4));
  }
  for (const { id, timeMs, message } of sent.histograms) {
    writer.histogram(toWords(id), 1, toTime(timeMs), message);
  }
  for (const { id, timeMs, valueBits, labels } of sent.exemplars) {
    const exemplar = {
      time: toTime(timeMs),
      value: toBytes(valueBits),
      labels: encodeLabels(labels),
    };
    writer.exemplar(toWords(id), 1, exemplar);
  }
  for (const metadata of sent.metadata) writer.metadata(metadata);
}

/** Omits the doubles, since the bits are compared. */
function withoutValues({ samples, exemplars, ...others }: MetricRows): Rows {
  return {
    ...others,
    samples: samples.map(({ value: _, ...sample }) => sample),
    exemplars: exemplars.map(({ value: _, ...exemplar }) => exemplar),
  };
}

test('reads back what was written, batch after batch', () => {
  const writer = new MetricWriter();
  fc.assert(
    fc.property(anyRows, (sent) => {
      write(writer, sent);
      const { samples, histograms, exemplars, metadata } = sent;
      assert.deepEqual(writer.counts(), {
        samples: samples.length,
        histograms: histograms.length,
        exemplars: exemplars.length,
        metadata: metadata.length,
      });
      assert.deepEqual(withoutValues(readMetricRows(writer.finish())), sent);
    }),
    { numRuns: 200 },
  );
});

test('grows beyond the initial buffers', () => {
  const writer = new MetricWriter();
  const count = 10_000;
  for (let round = 0; round < 2; round += 1) {
    for (let sample = 0; sample < count; sample += 1) {
      writer.sample(toWords(BigInt(sample)), 1, { low: sample, high: 0 }, sample / 3);
      writer.metadata({ name: `m${sample}`, type: '', unit: '', help: 'x'.repeat(50) });
    }
    const read = readMetricRows(writer.finish());
    assert.equal(read.metadata.length, count);
    assert.equal(read.samples.length, count);
    for (const [index, { id, timeMs, value }] of read.samples.entries()) {
      assert.ok(id === BigInt(index) && timeMs === BigInt(index) && value === index / 3);
    }
  }
});

test('clear() discards a large unfinished batch', () => {
  const writer = new MetricWriter();
  for (let sample = 0; sample < 200_000; sample += 1) {
    writer.sample(toWords(1n), 1, { low: 0, high: 0 }, 1);
  }
  writer.metadata({ name: 'm', type: '', unit: '', help: 'x'.repeat(5_000_000) });
  writer.clear();
  assert.equal(writer.finish().length, metricHeaderBytes);
  writer.sample(toWords(2n), 1, { low: 1, high: 0 }, 5);
  assert.deepEqual(
    readMetricRows(writer.finish()).samples.map(({ id, value }) => [id, value]),
    [[2n, 5]],
  );
});

describe('stores the bits of a number', () => {
  const cases: [value: number, bits: bigint][] = [
    [0, 0n],
    [-0, 0x8000_0000_0000_0000n],
    [1, 0x3ff0_0000_0000_0000n],
    [Infinity, 0x7ff0_0000_0000_0000n],
    [-Infinity, 0xfff0_0000_0000_0000n],
    [Number.MIN_VALUE, 1n],
    [NaN, 0x7ff8_0000_0000_0001n],
  ];
  for (const [value, expected] of cases) {
    test(String(Object.is(value, -0) ? '-0' : value), () => {
      const writer = new MetricWriter();
      writer.sample(toWords(1n), 1, { low: 0, high: 0 }, value);
      assert.equal(readMetricRows(writer.finish()).samples[0]?.valueBits, expected);
    });
  }
});

describe('toDay clamps to 1970 to 2149', () => {
  const cases: [unixMs: number, day: number][] = [
    [0, 0],
    [86_399_999, 0],
    [86_400_000, 1],
    [-1, 0],
    [-1e18, 0],
    [65_535 * 86_400_000, 65_535],
    [65_536 * 86_400_000, 65_535],
    [1e18, 65_535],
  ];
  for (const [unixMs, day] of cases) test(String(unixMs), () => assert.equal(toDay(unixMs), day));
});
