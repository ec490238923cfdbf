/** The body of an insert holds each batch once, whatever its size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StampedBatch } from '../../model/batch.ts';
import { encodeOuterRows } from './outer-rows.ts';

function batch(sequence: bigint, rows: number, payload: Uint8Array): StampedBatch {
  return {
    id: { writer: 0x0102030405060708n, sequence },
    receivedAtNanos: 9n,
    owner: { accountId: 'account', streamId: 'str', receiverId: 'r' },
    layout: 'logs/1',
    rows,
    payload,
  };
}

test('a prefix is the outer row in RowBinary, and the payload follows untouched', () => {
  const body = Buffer.concat([...encodeOuterRows([batch(0x11n, 300, Buffer.from([0xaa, 0xbb]))])]);
  const expected = [
    '1100000000000000', // sequence: the low half of the id
    '0807060504030201', // writer
    '0900000000000000',
    `07${Buffer.from('account').toString('hex')}`,
    `03${Buffer.from('str').toString('hex')}`,
    `01${Buffer.from('r').toString('hex')}`,
    'ac02', // 300 rows as a varint
    'aabb',
  ];
  assert.equal(body.toString('hex'), expected.join(''));
});

test('ten thousand small batches become a few chunks, a large payload is not copied', () => {
  const small = Array.from({ length: 10_000 }, (_, i) => batch(BigInt(i), 1, Buffer.alloc(300, i)));
  const large = batch(77n, 5, Buffer.alloc(2_000_000, 7));
  const batches = [...small.slice(0, 5_000), large, ...small.slice(5_000)];
  const chunks = [...encodeOuterRows(batches)];
  assert.ok(chunks.length < 30, `${chunks.length} chunks`);
  assert.ok(chunks.includes(large.payload));
  const apart = batches.flatMap((one) => [...encodeOuterRows([one])]);
  assert.ok(Buffer.concat(chunks).equals(Buffer.concat(apart)));
});

test('an id that could not be read back is refused', () => {
  const wrong = { ...batch(1n, 1, Buffer.alloc(1)) };
  const owner = { ...wrong.owner, receiverId: 'x'.repeat(128) };
  assert.throws(() => [...encodeOuterRows([{ ...wrong, owner }])], /cannot store an id of 128/);
});
