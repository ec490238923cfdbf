/** A request of remote_write 2.0 stores what the same request of 1.0 stores. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { AppError } from '../../src/model/errors.ts';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import { createRemoteWriteDecoders } from '../../src/protocols/remote-write/remote-write.ts';
import { createRandom } from '../../test/harness/random.ts';
import { encodeWriteRequest, toSample, type WrittenSeries } from '../harness/prompb.ts';
import { encodeWriteRequestV2 } from '../harness/prompb-symbols.ts';
import { bytesField, varintField } from '../harness/proto-wire.ts';
import { writtenSeries } from '../fuzz/metric-requests.ts';
import { readMetricRows } from './read-metric-rows.ts';
import { decodeV2 } from './remote-write-request.ts';

const large = createRemoteWriteDecoders({
  labels: { maxLabels: 64, maxLabelNameLength: 1024, maxLabelValueLength: 8192 },
  maxLabelBytes: 1e8,
  maxInflatedBytes: 2e6,
  memo: { maxBytes: 1e8, maxSeries: 100_000 },
});
const limits = { maxEvents: 100_000, maxDepth: 1, maxRejections: 10 };
const context = { limits, nowMs: 0, series: blankSeriesView };

const up = (labels: Record<string, string> = {}): WrittenSeries => ({
  labels: { __name__: 'up', ...labels },
  samples: [toSample(1_000, 1)],
});

async function refusal(body: Buffer): Promise<AppError> {
  const error = await decodeV2(body).then(
    () => assert.fail('must be refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AppError);
  return error;
}

test('random requests store the rows of version 1', async () => {
  const random = createRandom(11);
  for (let i = 0; i < 60; i++) {
    const series = writtenSeries(random, 200);
    const one = await large.v1(encodeWriteRequest(series), context);
    const two = await large.v2(encodeWriteRequestV2(series), context);
    assert.deepEqual(readMetricRows(two.payload), readMetricRows(one.payload));
    assert.deepEqual({ ...two, payload: 0 }, { ...one, payload: 0 });
  }
});

test('a large request is decoded in pieces', async () => {
  const series = Array.from({ length: 5_000 }, (_, i) =>
    up({ pod: `pod-${i}`, path: 'x'.repeat(200) }),
  );
  const decoded = large.v2(encodeWriteRequestV2(series), context);
  assert.ok(decoded instanceof Promise, 'the event loop has turns');
  const rows = readMetricRows((await decoded).payload);
  assert.equal(rows.samples.length, 5_000);
  assert.equal(new Set(rows.samples.map(({ id }) => id)).size, 5_000);
});

suite('metadata', () => {
  const counter = { type: 1, help: 'Requests.', unit: 'requests' };
  const histogram = { type: 3, help: 'Time.', unit: '' };
  test('is that of the family, once', async () => {
    const names = ['a_total', 'a_total', 'b_bucket', 'b_sum', 'b_count', 'c'];
    const series = names.map((name, i) => ({
      ...up(),
      labels: { __name__: name, n: String(i) },
      metadata: name.startsWith('b') ? histogram : counter,
    }));
    const { payload } = await decodeV2(encodeWriteRequestV2(series));
    assert.deepEqual(readMetricRows(payload).metadata, [
      { name: 'a_total', type: 'counter', unit: 'requests', help: 'Requests.' },
      { name: 'b', type: 'histogram', unit: '', help: 'Time.' },
      { name: 'c', type: 'counter', unit: 'requests', help: 'Requests.' },
    ]);
  });

  test('without type, help and unit is none', async () => {
    const series = [{ ...up(), metadata: { type: 0, help: '', unit: '' } }];
    const { payload } = await decodeV2(encodeWriteRequestV2(series));
    assert.deepEqual(readMetricRows(payload).metadata, []);
  });
});

test('a created timestamp is read over', async () => {
  const batch = await decodeV2(encodeWriteRequestV2([{ ...up(), createdMs: 5n }]));
  assert.deepEqual(batch.written, { samples: 1, histograms: 0, exemplars: 0, metadata: 0 });
});

test('symbols may follow the series, and references need not be packed', async () => {
  const sample = bytesField(2, varintField(2, 7n));
  const series = bytesField(5, Buffer.concat([sample, varintField(1, 1n), varintField(1, 2n)]));
  const symbols = ['', '__name__', 'up'].map((text) => bytesField(4, Buffer.from(text)));
  const { payload } = await decodeV2(Buffer.concat([series, ...symbols]));
  const rows = readMetricRows(payload);
  assert.deepEqual(
    rows.series.map(({ labels }) => labels),
    [[['__name__', 'up']]],
  );
  assert.deepEqual(
    rows.samples.map(({ timeMs, value }) => [timeMs, value]),
    [[7n, 0]],
  );
});

suite('rejects a series and stores the others', () => {
  const cases: readonly (readonly [string, WrittenSeries, RegExp])[] = [
    ['no name', { ...up(), labels: { job: 'x' } }, /no metric name/],
    ['no labels', { ...up(), labels: {} }, /no metric name/],
    ['long value', up({ v: 'x'.repeat(31) }), /label value too long/],
    ['very long value', up({ v: 'é'.repeat(3_000) }), /label value too long/],
    ['many labels', up({ a: '1', b: '1', c: '1', d: '1', e: '1', f: '1', g: '1' }), /too many/],
  ];
  for (const [name, bad, reason] of cases) {
    test(name, async () => {
      const batch = await decodeV2(encodeWriteRequestV2([up({ n: '0' }), bad, up({ n: '1' })]));
      assert.equal(batch.written?.samples, 2);
      assert.equal(batch.rejectedCount, 1);
      assert.equal(batch.rejected[0]!.index, 1);
      assert.match(batch.rejected[0]!.reason, reason);
    });
  }
});

suite('refuses', () => {
  const series = (...references: number[]) =>
    bytesField(5, Buffer.concat(references.map((one) => Buffer.from([0x08, one]))));
  const empty = bytesField(4, Buffer.alloc(0));

  test('a reference beyond the symbols', async () => {
    const { code, message } = await refusal(Buffer.concat([empty, series(0, 7)]));
    assert.equal(code, 'malformed');
    assert.equal(message, 'cannot find symbol 7: the request has 1');
  });

  test('an odd number of references', async () => {
    const { message } = await refusal(Buffer.concat([empty, series(0, 0, 0)]));
    assert.match(message, /labels of 3 references, an odd number/);
  });

  test('a request of version 1, by the name of its route', async () => {
    const { code, message } = await refusal(encodeWriteRequest([up()]));
    assert.equal(code, 'malformed');
    assert.match(message, /prometheus\/api\/v1\/write/);
  });

  test('labels that are small as symbols and large written out', async () => {
    const value = 'x'.repeat(8_000);
    const many = Array.from({ length: 400 }, (_, i) => up({ value, n: String(i) }));
    await assert.rejects(async () => large.v2(encodeWriteRequestV2(many), context), {
      code: 'too_large',
      message: /2000000 bytes.*ingest\.remoteWriteMaxInflatedBytes/,
    });
    const { samples } = up();
    const exemplars = many.map(({ labels }) => ({ ...samples![0]!, labels }));
    const body = encodeWriteRequestV2([{ ...up(), exemplars }]);
    await assert.rejects(async () => large.v2(body, context), { code: 'too_large' });
  });
});
