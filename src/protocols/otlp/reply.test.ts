/** Success answers, read back as JSON and with a protobuf library that shares no code with us. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import type { Rejection } from '../../model/batch.ts';
import { frame } from './grpc-message.ts';
import { createReplies } from './reply.ts';

const { toHttp: replyTo, toGrpc: replyToGrpc } = createReplies({
  noun: 'log record',
  rejected: 'rejectedLogRecords',
});

const json = { mediaType: 'application/json' };
const binary = { mediaType: 'application/x-protobuf' };

const responseType = protobuf
  .parse(`
    syntax = "proto3";
    message ExportLogsPartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }
    message ExportLogsServiceResponse { ExportLogsPartialSuccess partial_success = 1; }
  `)
  .root.lookupType('ExportLogsServiceResponse');

interface PartialSuccess {
  readonly rejectedLogRecords?: string;
  readonly errorMessage: string;
}

function readProtobuf(body: Uint8Array | string): PartialSuccess | undefined {
  const message = responseType.decode(Buffer.from(body));
  const { partialSuccess } = responseType.toObject(message, { longs: String });
  return partialSuccess as PartialSuccess | undefined;
}

function toBatch(rejectedByReason: Record<string, number>, warnings?: Record<string, number>) {
  const reasons = Object.entries(rejectedByReason);
  const rejected: Rejection[] = reasons.map(([word], index) => ({ index, reason: `is ${word}` }));
  return {
    rejected,
    rejectedCount: reasons.reduce((sum, [, count]) => sum + count, 0),
    rejectedByReason: new Map(reasons),
    ...(warnings === undefined ? {} : { warnings: new Map(Object.entries(warnings)) }),
  };
}

test('full success leaves partial_success unset', () => {
  for (const batch of [toBatch({}), toBatch({}, {})]) {
    assert.deepEqual(replyTo(batch, json), {
      status: 200,
      contentType: 'application/json',
      body: '{}',
    });
    const reply = replyTo(batch, binary);
    assert.equal(reply.contentType, 'application/x-protobuf');
    assert.equal(reply.body.length, 0);
    assert.deepEqual(replyToGrpc(batch).body, frame(Buffer.alloc(0)));
  }
});

test('counts rejected records exactly and lists the first reasons', () => {
  const batch = toBatch({ too_deep: 2, too_long: 1 });
  const errorMessage =
    'cannot accept 3 log records: too_deep (2); too_long (1); ' +
    'record 0: is too_deep; record 1: is too_long';
  const { body } = replyTo(batch, json);
  assert.deepEqual(JSON.parse(String(body)), {
    partialSuccess: { rejectedLogRecords: '3', errorMessage },
  });
  const expected = { rejectedLogRecords: '3', errorMessage };
  assert.deepEqual({ ...readProtobuf(replyTo(batch, binary).body) }, expected);
  const framed = Buffer.from(replyToGrpc(batch).body);
  assert.deepEqual({ ...readProtobuf(framed.subarray(5)) }, expected);
});

test('answers a warning as a message with no rejected records', () => {
  const batch = toBatch({}, { bad_trace_id: 7 });
  const errorMessage = 'accepted with changes: bad_trace_id (7)';
  assert.deepEqual(JSON.parse(String(replyTo(batch, json).body)), {
    partialSuccess: { errorMessage },
  });
  assert.deepEqual({ ...readProtobuf(replyTo(batch, binary).body) }, { errorMessage });
});

test('answers the same in both encodings, within 4 KiB, for any batch', () => {
  const counts = fc.dictionary(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 2 ** 40 }));
  const reasons = fc.array(fc.string({ unit: 'grapheme', maxLength: 9000 }), { maxLength: 200 });
  fc.assert(
    fc.property(counts, counts, reasons, (rejectedByReason, warnings, texts) => {
      const rejected = texts.map((reason, index) => ({ index, reason }));
      const batch = { ...toBatch(rejectedByReason, warnings), rejected };
      const asJson = JSON.parse(String(replyTo(batch, json).body)) as {
        partialSuccess?: PartialSuccess;
      };
      const asProtobuf = readProtobuf(replyTo(batch, binary).body);
      assert.deepEqual(
        asProtobuf === undefined ? undefined : { ...asProtobuf },
        asJson.partialSuccess,
      );
      const { errorMessage = '', rejectedLogRecords = '0' } = asProtobuf ?? {};
      assert.equal(rejectedLogRecords, String(batch.rejectedCount));
      assert.ok(Buffer.byteLength(errorMessage) <= 4096);
    }),
  );
});

test('ends with "and more" if records do not fit', () => {
  const reason = 'x'.repeat(1000);
  const rejected = Array.from({ length: 100 }, (_, index) => ({ index, reason }));
  const batch = { rejected, rejectedCount: 100, rejectedByReason: new Map([['too_long', 100]]) };
  const { errorMessage } = readProtobuf(replyTo(batch, binary).body) ?? { errorMessage: '' };
  assert.match(errorMessage, /^cannot accept 100 log records: too_long \(100\); record 0: x+; /);
  assert.match(errorMessage, /; and more$/);
});
