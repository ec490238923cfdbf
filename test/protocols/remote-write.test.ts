/** remote_write: content types, snappy, and errors as a sender logs them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compressSync } from 'snappy';
import { createMetricCorpus } from '../../bench/metric-corpus.ts';
import { bodyFormat } from '../../src/admission/body-format.ts';
import { inflate } from '../../src/admission/inflate.ts';
import type { MemoryLease } from '../../src/admission/port.ts';
import { AppError } from '../../src/model/errors.ts';
import type { RequestHeaders } from '../../src/model/request.ts';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import { configSchema } from '../../src/config/schema.ts';
import { createRemoteWrite } from '../../src/protocols/remote-write/remote-write.ts';
import { problemJson, toProblem } from '../../src/server/errors.ts';
import { readMetricRows } from './read-metric-rows.ts';

const maxBytes = 1_000_000;
const [protocol, protocolV2] = createRemoteWrite(configSchema.parse({}));
const memory: MemoryLease = {
  growTo: () => undefined,
  coverHeap: () => undefined,
  buffer: (bytes) => Buffer.alloc(bytes),
  release: () => undefined,
};

function formatOf(
  contentType: string,
  contentEncoding: readonly string[] = ['snappy'],
  of = protocol,
) {
  const headers: RequestHeaders = {
    authorization: [],
    activeAccount: [],
    contentType: [contentType],
    contentEncoding,
    contentLength: undefined,
    datadogKey: [],
    forwardedFor: [],
    idempotencyKey: [],
  };
  return bodyFormat(headers, of);
}

describe('content types', () => {
  for (const contentType of [
    'application/x-protobuf',
    'application/x-protobuf;proto=prometheus.WriteRequest',
    'Application/X-Protobuf; proto="prometheus.WriteRequest"',
  ]) {
    test(`accepts ${contentType}`, () => {
      assert.equal(formatOf(contentType).mediaType, 'application/x-protobuf');
    });
  }

  const refused: [contentType: string, contentEncoding: string[]][] = [
    ['application/x-protobuf;proto=io.prometheus.write.v2.Request', ['snappy']],
    ['application/x-protobuf;proto=other', ['snappy']],
    ['application/json', ['snappy']],
    ['application/x-protobuf', []],
    ['application/x-protobuf', ['gzip']],
    ['application/x-protobuf', ['identity']],
    ['application/x-protobuf', ['zstd']],
  ];
  for (const [contentType, contentEncoding] of refused) {
    test(`refuses ${contentType} with encoding ${contentEncoding.join() || 'none'}`, () => {
      assert.throws(
        () => formatOf(contentType, contentEncoding),
        (error) => error instanceof AppError && error.code === 'unsupported_media',
      );
    });
  }
});

describe('content types of version 2', () => {
  const v2 = (contentType: string) => formatOf(contentType, ['snappy'], protocolV2);
  test('accepts its own', () => {
    const type = 'application/x-protobuf;proto=io.prometheus.write.v2.Request';
    assert.equal(v2(type).mediaType, 'application/x-protobuf');
  });
  for (const contentType of [
    'application/x-protobuf',
    'application/x-protobuf; charset=utf-8',
    'application/x-protobuf;proto=prometheus.WriteRequest',
  ]) {
    test(`refuses ${contentType} and names the other route`, () => {
      assert.throws(() => v2(contentType), /prometheus\/api\/v1\/write/);
    });
  }
});

test('accepts compressed requests, with values patched in or recompressed', async () => {
  const corpus = createMetricCorpus({
    seed: 3,
    series: 900,
    samplesPerRequest: 400,
    startMs: 1.7e12,
    intervalMs: 15_000,
  });
  for (let turn = 0; turn < 2 * corpus.requestsPerRound; turn += 1) {
    const { message, body, samples } = corpus.next();
    const filled = await inflate(Buffer.from(body), 'snappy', { maxBytes, memory });
    const anew = await inflate(compressSync(message), 'snappy', { maxBytes, memory });
    assert.deepEqual(filled, anew);
    const context = { limits: protocol.limits, nowMs: 0, series: blankSeriesView };
    const format = formatOf('application/x-protobuf');
    const batch = await protocol.decode(filled, format, context);
    assert.equal(batch.written?.samples, samples);
    assert.equal(readMetricRows(batch.payload).series.length, samples);
  }
});

/** Prometheus logs the first line of a response, at most 256 bytes. */
test('errors are readable in their first line', () => {
  const error = new AppError('malformed', 'cannot read the body as protobuf: … (byte 1)');
  const line = problemJson(toProblem(error, 'req_1'));
  assert.ok(!line.includes('\n'));
  assert.ok(line.slice(0, 256).includes(error.message), line);
});
