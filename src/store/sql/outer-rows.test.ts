/** The body of an insert contains each batch once, of any size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeOuterRows, type OuterRow } from './outer-rows.ts';

function outerRow(sequence: bigint, count: number, rows: Uint8Array): OuterRow {
  const batch = {
    id: { writer: 0x0102030405060708n, sequence },
    receivedAtNanos: 9n,
    owner: { accountId: 'account', streamId: 'str', receiverId: 'r' },
  };
  return { batch, count, rows };
}

test('encodes the prefix in RowBinary, then the payload', () => {
  const body = Buffer.concat([
    ...encodeOuterRows([outerRow(0x11n, 300, Buffer.from([0xaa, 0xbb]))]),
  ]);
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

test('joins small payloads into few chunks and does not copy a large one', () => {
  const small = Array.from({ length: 10_000 }, (_, i) =>
    outerRow(BigInt(i), 1, Buffer.alloc(300, i)),
  );
  const large = outerRow(77n, 5, Buffer.alloc(2_000_000, 7));
  const all = [...small.slice(0, 5_000), large, ...small.slice(5_000)];
  const chunks = [...encodeOuterRows(all)];
  assert.ok(chunks.length < 30, `${chunks.length} chunks`);
  assert.ok(chunks.includes(large.rows));
  const apart = all.flatMap((one) => [...encodeOuterRows([one])]);
  assert.ok(Buffer.concat(chunks).equals(Buffer.concat(apart)));
});

test('does not write a count before rows that begin with it', () => {
  const [chunk] = encodeOuterRows([
    { ...outerRow(1n, 0, Buffer.from([2, 7, 7])), count: undefined },
  ]);
  assert.equal(Buffer.from(chunk!).toString('hex').slice(-8), '72020707');
});

test('rejects an id longer than 127 bytes', () => {
  const good = outerRow(1n, 1, Buffer.alloc(1));
  const owner = { ...good.batch.owner, receiverId: 'x'.repeat(128) };
  const wrong = { ...good, batch: { ...good.batch, owner } };
  assert.throws(() => [...encodeOuterRows([wrong])], /cannot store an id of 128/);
});
