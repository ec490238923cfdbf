/** Frames decode to what was encoded, or are rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StampedBatch } from '../model/batch.ts';
import type { IdempotencyRecord } from './port.ts';
import {
  decodeFrame,
  encodeFrame,
  finishFrame,
  idempotencyOf,
  isBodyIntact,
  measureFrame,
  readFrameHeader,
} from './frame.ts';

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const bytes = (limits: { minLength?: number; maxLength: number }) =>
  fc.uint8Array(limits).map((array) => Buffer.from(array));

const batches: fc.Arbitrary<StampedBatch> = fc.record({
  id: fc.record({ writer: u64, sequence: u64 }),
  receivedAtNanos: u64,
  owner: fc.record({ accountId: fc.string(), streamId: fc.string(), receiverId: fc.string() }),
  layout: fc.constant('logs/1' as const),
  rows: fc.nat(),
  payload: bytes({ maxLength: 500 }),
});

const records: fc.Arbitrary<IdempotencyRecord | undefined> = fc.option(
  fc.record({
    key: bytes({ minLength: 16, maxLength: 16 }),
    bodyDigest: bytes({ minLength: 16, maxLength: 16 }),
    answer: bytes({ maxLength: 100 }),
  }),
  { nil: undefined },
);

function encode(batch: StampedBatch, record: IdempotencyRecord | undefined): Buffer {
  const frame = Buffer.alloc(measureFrame(batch, record));
  assert.equal(encodeFrame(frame, 0, batch, record), frame.length);
  finishFrame(frame, 0, 64);
  return frame;
}

/** fast-check makes objects without a prototype. */
function plain(batch: StampedBatch): StampedBatch {
  return { ...batch, id: { ...batch.id }, owner: { ...batch.owner } };
}

test('decodes the batch and the idempotency record that were encoded', () => {
  fc.assert(
    fc.property(batches, records, (batch, record) => {
      const frame = encode(batch, record);
      const header = readFrameHeader(frame, 0);
      assert.ok(header !== undefined && isBodyIntact(frame, header));
      assert.deepEqual(decodeFrame(frame), plain(batch));
      const kept = idempotencyOf(frame, 0, header);
      const given = record && Buffer.concat([record.key, record.bodyDigest, record.answer]);
      assert.deepEqual(Buffer.from(kept), given ?? Buffer.alloc(0));
    }),
  );
});

test('detects any flipped bit and any missing byte', () => {
  fc.assert(
    fc.property(batches, records, fc.nat(), fc.nat(7), (batch, record, position, bit) => {
      const frame = encode(batch, record);
      const at = position % frame.length;
      const short = frame.subarray(0, at);
      const headerOfShort = readFrameHeader(short, 0);
      assert.ok(headerOfShort === undefined || !isBodyIntact(short, headerOfShort));
      frame[at] = (frame[at] ?? 0) ^ (1 << bit);
      const header = readFrameHeader(frame, 0);
      assert.ok(header === undefined || !isBodyIntact(frame, header));
    }),
  );
});
