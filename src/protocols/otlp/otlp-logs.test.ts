/** Caps of OTLP logs, and equality of rows across encodings and transports. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { label, limits, requestOf, text } from '../../../test/protocols/otlp-rows.ts';
import { configSchema } from '../../config/schema.ts';
import {
  type BodyFormat,
  capsOf,
  type ContentCoding,
  type Protocol,
} from '../../model/protocol.ts';
import { blankSeriesView } from '../../../test/harness/blank-series-view.ts';
import { frame } from './grpc-message.ts';
import { createOtlpGrpc, createOtlpHttp } from './otlp-logs.ts';

const config = configSchema.parse({
  ingest: { otlpMaxBodyBytes: 16, otlpMaxProtobufBytes: 64, otlpMaxJsonBytes: 32 },
});
const http = createOtlpHttp(config);
const grpc = createOtlpGrpc(config);

function formatOf(mediaType: string, coding: ContentCoding = 'identity'): BodyFormat {
  return { mediaType, parameters: new Map(), coding };
}

async function decode(protocol: Protocol, body: Buffer, mediaType: string) {
  const format = formatOf(mediaType);
  const message = protocol.unframe?.(body, format).message ?? body;
  const batch = await protocol.decode(message, format, {
    limits,
    nowMs: 0,
    series: blankSeriesView,
  });
  return { batch, reply: protocol.reply(batch, format) };
}

describe('the caps of a body', () => {
  test('depend on the encoding, with a lower cap for compressed bodies', () => {
    for (const [protocol, mediaType, coding, wireBytes, inflatedBytes] of [
      [http, 'application/json', 'identity', 32, 32],
      [http, 'application/json', 'gzip', 16, 32],
      [http, 'application/x-protobuf', 'identity', 64, 64],
      [http, 'application/x-protobuf', 'gzip', 16, 64],
      [grpc, 'application/grpc', 'identity', 69, 64],
      [grpc, 'application/grpc+proto', 'gzip', 21, 64],
    ] as const) {
      const caps = capsOf(protocol, formatOf(mediaType, coding));
      assert.deepEqual(caps, { wireBytes, inflatedBytes }, `${mediaType} ${coding}`);
      assert.ok(caps.wireBytes <= protocol.maxBodyBytes);
    }
  });
});

describe('a request', () => {
  const record = { body: text('hello'), attributes: [label('host.name', 'h')] };

  test('yields the same rows in every encoding and transport', async () => {
    const protobuf = requestOf(record);
    const json = Buffer.from(
      JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }),
    );
    const ofProtobuf = await decode(http, protobuf, 'application/x-protobuf');
    const ofJson = await decode(http, json, 'application/json');
    const ofGrpc = await decode(grpc, frame(protobuf), 'application/grpc');
    assert.equal(ofProtobuf.batch.rows, 1);
    assert.deepEqual(ofJson.batch, ofProtobuf.batch);
    assert.deepEqual(ofGrpc.batch, ofProtobuf.batch);
    assert.equal(ofProtobuf.reply.contentType, 'application/x-protobuf');
    assert.equal(ofJson.reply.contentType, 'application/json');
    assert.equal(ofGrpc.reply.contentType, 'application/grpc');
  });

  test('with an empty body succeeds without records', async () => {
    for (const [protocol, body, mediaType] of [
      [http, Buffer.alloc(0), 'application/x-protobuf'],
      [http, Buffer.from('{}'), 'application/json'],
      [grpc, frame(Buffer.alloc(0)), 'application/grpc+proto'],
    ] as const) {
      const { batch, reply } = await decode(protocol, body, mediaType);
      assert.deepEqual([batch.rows, batch.rejectedCount, reply.status], [0, 0, 200]);
    }
  });
});
