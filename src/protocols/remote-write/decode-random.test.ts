/** The remote_write decoder compared with a model on generated requests, and on damaged ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeMessage } from '../../../test/protocols/prompb-schema.ts';
import { type MetricRows, readMetricRows } from '../../../test/protocols/read-metric-rows.ts';
import { AppError } from '../../model/errors.ts';
import { blankSeriesView } from '../../../test/harness/blank-series-view.ts';
import { createRemoteWriteDecoders } from './remote-write.ts';

const labelLimits = { maxLabels: 6, maxLabelNameLength: 10, maxLabelValueLength: 10 };
const limits = { maxEvents: 10_000, maxDepth: 1, maxRejections: 10 };
/** Shared by all runs, so that later runs find known label sets. */
const { v1: decodeBody } = createRemoteWriteDecoders({
  labels: labelLimits,
  maxLabelBytes: 1e6,
  maxInflatedBytes: 1e7,
  memo: { maxBytes: 20_000, maxSeries: 100 },
});
const context = { limits, nowMs: 0, series: blankSeriesView };
const decode = async (body: Buffer) => decodeBody(body, context);

interface SentLabel {
  readonly name: string;
  readonly value: string;
}

interface SentSeries {
  readonly labels: readonly SentLabel[];
  readonly samples: readonly { readonly value: number; readonly timestamp: string }[];
  readonly exemplars: readonly {
    readonly labels: readonly SentLabel[];
    readonly value: number;
    readonly timestamp: string;
  }[];
  readonly histograms: readonly {
    readonly countInt: number;
    readonly zeroCountInt: number;
    readonly timestamp: string;
  }[];
}

const anyTime = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const anyName = fc.constantFrom('__name__', 'job', 'a', 'ä', '\u{1f600}', '\uff01', '');
const anyValue = fc.oneof(
  fc.constantFrom('up', '', 'x'),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
);
const anyLabel: fc.Arbitrary<SentLabel> = fc.record({ name: anyName, value: anyValue });
const anyMetricName = fc.constant({ name: '__name__', value: 'up' });
const anyLabels = fc
  .tuple(
    fc.array(anyLabel, { maxLength: 4 }),
    fc.oneof({ weight: 4, arbitrary: anyMetricName }, anyLabel),
  )
  .map(([some, last]) => [...some, last]);
const anyHistogram = fc
  .record({ countInt: fc.nat(), timestamp: anyTime })
  .map((histogram) => ({ ...histogram, zeroCountInt: histogram.countInt }));
const measured = { value: fc.double(), timestamp: anyTime };
const anySeries: fc.Arbitrary<SentSeries> = fc.record({
  labels: anyLabels,
  samples: fc.array(fc.record(measured), { maxLength: 4 }),
  exemplars: fc.array(fc.record({ labels: fc.array(anyLabel, { maxLength: 2 }), ...measured }), {
    maxLength: 2,
  }),
  histograms: fc.array(anyHistogram, { maxLength: 2 }),
});

/** One encoded field each. Fields of one kind must keep their order; kinds may be interleaved. */
function piecesOf(one: SentSeries): Buffer[][] {
  return (['labels', 'samples', 'exemplars', 'histograms'] as const).map((kind) =>
    one[kind].map((item) => encodeMessage('TimeSeries', { [kind]: [item] })),
  );
}

const unknownFields = [
  Buffer.alloc(0),
  Buffer.from([0x58, 0xff, 1]),
  Buffer.from([0x5a, 2, 0, 0]),
  Buffer.from([0x5b, 0x08, 1, 0x5c]),
  Buffer.from('5d00000000', 'hex'),
];

/** @param order determines which kind of field comes next. */
function encodeShuffled(one: SentSeries, order: readonly number[]): Buffer {
  const kinds = piecesOf(one);
  const out: Buffer[] = [];
  for (let draw = 0; kinds.some(({ length }) => length > 0); draw += 1) {
    const left = kinds.filter(({ length }) => length > 0);
    const drawn = order[draw % order.length]!;
    out.push(left[drawn % left.length]!.shift()!, unknownFields[drawn % unknownFields.length]!);
  }
  const content = Buffer.concat(out);
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([0x0a, ...length, rest]), content]);
}

type Pairs = [string, string][];

/** Sorted by bytes, without empty values; undefined if the labels are invalid. */
function canonical(sent: readonly SentLabel[]): Pairs | undefined {
  if (sent.length > labelLimits.maxLabels) return undefined;
  const pairs = sent.flatMap(({ name, value }): Pairs => (value === '' ? [] : [[name, value]]));
  pairs.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const names = pairs.map(([name]) => name);
  const isBad =
    names.includes('') ||
    new Set(names).size < names.length ||
    pairs.some(([name, value]) => name.length > 10 || value.length > 10);
  return isBad ? undefined : pairs;
}

/** The expected records, with labels instead of ids, and the expected number of rejections. */
function expect(sent: readonly SentSeries[]) {
  const samples: unknown[] = [];
  const exemplars: unknown[] = [];
  const histograms: unknown[] = [];
  let rejected = 0;
  for (const one of sent) {
    const own = canonical(one.labels);
    if (own === undefined || !own.some(([name]) => name === '__name__')) {
      rejected += one.samples.length + one.exemplars.length + one.histograms.length;
      continue;
    }
    const key = JSON.stringify(own);
    for (const { value, timestamp } of one.samples) samples.push([key, BigInt(timestamp), value]);
    for (const exemplar of one.exemplars) {
      const pairs = canonical(exemplar.labels);
      if (pairs === undefined) rejected += 1;
      else exemplars.push([key, BigInt(exemplar.timestamp), exemplar.value, pairs]);
    }
    for (const histogram of one.histograms) {
      const message = encodeMessage('Histogram', histogram);
      histograms.push([key, BigInt(histogram.timestamp), message]);
    }
  }
  return { samples, exemplars, histograms, rejected };
}

function found(rows: MetricRows) {
  const keys = new Map(rows.series.map(({ id, labels }) => [id, JSON.stringify(labels)]));
  assert.equal(new Set(keys.values()).size, keys.size, 'each label set must have one id');
  return {
    samples: rows.samples.map(({ id, timeMs, value }) => [keys.get(id), timeMs, value]),
    exemplars: rows.exemplars.map((one) => [keys.get(one.id), one.timeMs, one.value, one.labels]),
    histograms: rows.histograms.map(({ id, timeMs, message }) => [keys.get(id), timeMs, message]),
  };
}

test('agrees with a model for any order of fields', async () => {
  const order = fc.array(fc.nat(20), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(anySeries, order), { maxLength: 6 }), async (sent) => {
      const batch = await decode(Buffer.concat(sent.map(([one, by]) => encodeShuffled(one, by))));
      const { rejected, ...expected } = expect(sent.map(([one]) => one));
      assert.deepEqual(found(readMetricRows(batch.payload)), expected);
      assert.equal(batch.rejectedCount, rejected);
    }),
    { numRuns: 300 },
  );
});

/** A mutation: of a byte, of the length, or of the order of parts. */
const change = fc.record({
  kind: fc.constantFrom('flip', 'cut', 'insert', 'remove', 'repeat'),
  at: fc.nat(),
  byte: fc.nat(255),
});

function changed(body: Buffer, { kind, at, byte }: { kind: string; at: number; byte: number }) {
  const from = body.length === 0 ? 0 : at % body.length;
  const rest = body.subarray(from);
  switch (kind) {
    case 'cut':
      return body.subarray(0, from);
    case 'insert':
      return Buffer.concat([body.subarray(0, from), Buffer.from([byte]), rest]);
    case 'remove':
      return Buffer.concat([body.subarray(0, from), rest.subarray(1 + (byte % 8))]);
    case 'repeat':
      return Buffer.concat([body, body.subarray(from, from + byte)]);
    default:
      return Buffer.concat([body.subarray(0, from), Buffer.from([byte]), rest.subarray(1)]);
  }
}

/** Decodes any bytes; asserts that an accepted batch is complete. */
async function decodeAnything(body: Buffer): Promise<'taken' | 'refused'> {
  const copy = Buffer.from(body);
  try {
    const { rows, payload, written, rejectedCount, rejectedByReason } = await decode(body);
    const read = readMetricRows(payload);
    const { samples, exemplars, histograms, metadata } = written!;
    assert.equal(read.samples.length, samples);
    assert.equal(read.exemplars.length, exemplars);
    assert.equal(read.histograms.length, histograms);
    assert.equal(read.metadata.length, metadata);
    assert.equal(rows, samples + exemplars + histograms + metadata);
    const known = new Set(read.series.map(({ id }) => id));
    for (const { id } of read.samples) assert.ok(known.has(id), 'a sample must have labels');
    assert.equal(
      rejectedCount,
      [...rejectedByReason.values()].reduce((sum, count) => sum + count, 0),
    );
    return 'taken';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    assert.ok(error.code === 'malformed' || error.code === 'too_large');
    return 'refused';
  } finally {
    assert.ok(body.equals(copy), 'the decoder must not modify the body');
  }
}

test('decodes or refuses damaged requests, and the next request is not affected', async () => {
  const seen = { taken: 0, refused: 0 };
  const metadata = fc.record({ type: fc.nat(9), metricFamilyName: anyValue, help: anyValue });
  const request = fc.record({
    timeseries: fc.array(anySeries, { maxLength: 3 }),
    metadata: fc.array(metadata, { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(
      request,
      fc.array(change, { minLength: 1, maxLength: 5 }),
      async (sent, by) => {
        const whole = encodeMessage('WriteRequest', sent);
        seen[await decodeAnything(by.reduce(changed, whole))] += 1;
        assert.equal(await decodeAnything(whole), 'taken');
      },
    ),
    { numRuns: 1000 },
  );
  assert.ok(seen.taken > 20 && seen.refused > 20, JSON.stringify(seen));
});

test('decodes or refuses random bytes', async () => {
  const bytes = fc.uint8Array({ maxLength: 60 });
  const likely = fc.array(fc.constantFrom(0x0a, 0x12, 0x1a, 0x22, 0x09, 0x10, 0, 1, 2, 3, 4, 8), {
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(bytes, likely), async (body) => {
      await decodeAnything(Buffer.from(body));
    }),
    { numRuns: 3000 },
  );
});
