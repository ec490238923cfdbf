/** Yields to the event loop after large histograms and exemplars. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTurns } from '../../../test/harness/count-turns.ts';
import { bytesField } from '../../../test/harness/proto-wire.ts';
import { decode, decodeV2, label } from '../../../test/protocols/remote-write-request.ts';

const emptySpan = Buffer.from([0x5a, 0]);
const emptyLabel = Buffer.from([0x0a, 0]);
const seriesOf = (...fields: Buffer[]) =>
  bytesField(1, Buffer.concat([label('__name__', 'up'), ...fields]));

for (const [name, field] of [
  ['histograms', bytesField(4, Buffer.alloc(128 * 1024, emptySpan))],
  ['exemplars', bytesField(3, Buffer.alloc(128 * 1024, emptyLabel))],
] as const) {
  test(`decodes each of several ${name} of 128 KiB in its own slice`, async () => {
    const fields = Array.from({ length: 32 }, () => field);
    assert.ok((await countTurns(() => decode(seriesOf(...fields)))) >= 32);
  });
}

test('decodes empty series of version 2 in slices', async () => {
  const series = bytesField(5, Buffer.alloc(0));
  const body = Buffer.alloc(40_000 * series.length, series);
  assert.ok((await countTurns(() => decodeV2(body, { maxEvents: 40_000 }))) >= 9);
});

test('refuses more series of version 2 than samples, before it reads them', async () => {
  const body = Buffer.alloc(2 * 1001, bytesField(5, Buffer.alloc(0)));
  await assert.rejects(decodeV2(body), /cannot accept more than 1000 samples in one request/);
});

test('rejects a histogram of more than 256 KiB', async () => {
  const sizes = [256 * 1024, 256 * 1024 + 2];
  const fields = sizes.map((size) => bytesField(4, Buffer.alloc(size, emptySpan)));
  const { written, rejectedCount } = await decode(seriesOf(...fields));
  assert.deepEqual([written?.histograms, rejectedCount], [1, 1]);
});
