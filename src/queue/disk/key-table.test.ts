/** The key table agrees with a map. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KeyTable } from './key-table.ts';

const ttlMs = 1000;

function digest(seed: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(seed, 4);
  return bytes;
}

function answerOf(number: number): Uint8Array {
  return Buffer.from(`answer ${number}`);
}

test('keeps the newest keys and their newest answers', () => {
  const insert = fc.record({ key: fc.nat(40), waitMs: fc.nat(60) });
  fc.assert(
    fc.property(
      fc.array(insert, { maxLength: 300 }),
      fc.integer({ min: 1, max: 30 }),
      (inserts, maxKeys) => {
        const table = new KeyTable({ maxKeys, ttlMs, maxAnswerBytes: 1e6 });
        const order: { key: number; number: number; stampMs: number }[] = [];
        let nowMs = 0;
        for (const [number, { key, waitMs }] of inserts.entries()) {
          nowMs += waitMs;
          table.insert(digest(key), {
            bodyDigest: digest(number),
            answer: answerOf(number),
            stampMs: nowMs,
          });
          order.push({ key, number, stampMs: nowMs });
          const kept = order.slice(-maxKeys).filter(({ stampMs }) => stampMs + ttlMs >= nowMs);
          const probe = inserts[number >> 1]?.key ?? 0;
          const expected = kept.findLast((each) => each.key === probe);
          const found = table.recall(digest(probe), nowMs);
          assert.deepEqual(
            found?.answer && Buffer.from(found.answer),
            expected && answerOf(expected.number),
          );
          assert.deepEqual(
            found?.bodyDigest && Buffer.from(found.bodyDigest),
            expected && digest(expected.number),
          );
        }
      },
    ),
  );
});

test('expires a key without an insert', () => {
  const table = new KeyTable({ maxKeys: 10, ttlMs, maxAnswerBytes: 1e6 });
  table.insert(digest(1), { bodyDigest: digest(2), answer: answerOf(1), stampMs: 5000 });
  assert.ok(table.recall(digest(1), 6000));
  assert.equal(table.recall(digest(1), 6001), undefined);
});

test('long answers evict the oldest keys early', () => {
  const table = new KeyTable({ maxKeys: 1000, ttlMs, maxAnswerBytes: 1_000_000 });
  for (let key = 0; key < 100; key++) {
    table.insert(digest(key), {
      bodyDigest: digest(key),
      answer: new Uint8Array(50_000),
      stampMs: 1,
    });
  }
  assert.ok(table.size <= 20 && table.size >= 10, `${table.size} keys`);
  assert.ok(table.recall(digest(99), 1));
  assert.equal(table.recall(digest(0), 1), undefined);
});
