/** Inflating under a cap: whole bodies, damaged ones, and bombs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { AppError, type ErrorCode } from '../model/errors.ts';
import type { ContentCoding } from '../model/protocol.ts';
import { inflate } from './inflate.ts';
import type { MemoryLease } from './port.ts';

/** Records the largest size granted, and refuses to grow beyond `most`. */
function lease(most = Number.POSITIVE_INFINITY): MemoryLease & { readonly grownTo: () => number } {
  let grown = 0;
  return {
    growTo(bytes) {
      if (bytes > most) throw new AppError('unavailable', 'cannot accept more');
      grown = Math.max(grown, bytes);
    },
    coverHeap: () => {},
    buffer: (bytes) => Buffer.alloc(bytes),
    release: () => {},
    grownTo: () => grown,
  };
}

async function assertRefused(
  code: ErrorCode,
  body: Buffer,
  coding: ContentCoding,
  { maxBytes = 1_000_000, memory = lease() } = {},
): Promise<void> {
  const attempt = async () => inflate(body, coding, { maxBytes, memory });
  await assert.rejects(attempt, (error) => error instanceof AppError && error.code === code);
}

const sizes = [0, 2, 5000, 200_000, 3_000_000];

for (const size of sizes) {
  const original = Buffer.from(Array.from({ length: size }, (_, i) => (i * i) & 255));

  for (const [coding, compressed] of [
    ['gzip', gzipSync(original)],
    ['deflate', deflateSync(original)],
    ['zstd', zstdCompressSync(original)],
    ['snappy', compressSync(original)],
    ['identity', original],
  ] as const) {
    test(`inflates ${size} bytes of ${coding} at the cap and fails one beyond`, async () => {
      const memory = lease();
      const inflated = await inflate(compressed, coding, { maxBytes: size || 1, memory });
      assert.deepEqual(inflated, original);
      if (coding !== 'identity') assert.equal(memory.grownTo(), size);
      if (size > 0) await assertRefused('too_large', compressed, coding, { maxBytes: size - 1 });
    });
  }
}

test('inflates all members of a gzip body', async () => {
  const body = Buffer.concat([gzipSync('one '), gzipSync('two')]);
  const inflated = await inflate(body, 'gzip', { maxBytes: 100, memory: lease() });
  assert.equal(inflated.toString(), 'one two');
});

test('inflates all frames of a zstd body', async () => {
  const body = Buffer.concat([zstdCompressSync('one '), zstdCompressSync('two')]);
  const inflated = await inflate(body, 'zstd', { maxBytes: 100, memory: lease() });
  assert.equal(inflated.toString(), 'one two');
});

test('rejects what follows the end of a body', async () => {
  for (const [coding, compressed] of [
    ['gzip', gzipSync('some text')],
    ['zstd', zstdCompressSync('some text')],
    ['deflate', deflateSync('some text')],
    ['deflate', deflateRawSync('some text')],
  ] as const) {
    const damaged = Buffer.from(compressed);
    damaged[0]! ^= 1;
    for (const rest of [Buffer.from('more'), damaged]) {
      await assertRefused('malformed', Buffer.concat([compressed, rest]), coding);
    }
  }
});

test('inflates deflate without the zlib header', async () => {
  const inflated = await inflate(deflateRawSync('text'), 'deflate', {
    maxBytes: 9,
    memory: lease(),
  });
  assert.equal(inflated.toString(), 'text');
});

test('rejects a truncated body', async () => {
  const original = Buffer.alloc(300_000, 'some text that repeats ');
  await assertRefused('malformed', gzipSync(original).subarray(0, -9), 'gzip');
  await assertRefused('malformed', gzipSync('short').subarray(0, -9), 'gzip');
  await assertRefused('malformed', compressSync(original).subarray(0, -9), 'snappy');
  for (const coding of ['deflate', 'zstd'] as const) {
    const compress = coding === 'zstd' ? zstdCompressSync : deflateSync;
    await assertRefused('malformed', compress(original).subarray(0, -9), coding);
    await assertRefused('malformed', Buffer.alloc(0), coding);
  }
  await assertRefused('malformed', Buffer.alloc(0), 'gzip');
  await assertRefused('malformed', Buffer.alloc(0), 'snappy');
});

test('rejects a body of another coding', async () => {
  const noise = Buffer.from('{"this":"is not compressed"}');
  await assertRefused('malformed', noise, 'gzip');
  await assertRefused('malformed', noise, 'deflate');
  await assertRefused('malformed', noise, 'zstd');
  await assertRefused('malformed', noise, 'snappy');
  await assertRefused('malformed', Buffer.alloc(10, 0xff), 'snappy');
});

test('names framed snappy in the error', async () => {
  const framed = Buffer.concat([Buffer.from('\xff\x06\x00\x00sNaPpY', 'latin1'), Buffer.alloc(9)]);
  const attempt = async () => inflate(framed, 'snappy', { maxBytes: 100, memory: lease() });
  await assert.rejects(attempt, /framed snappy/);
});

test('stops a bomb at the size cap and at the memory cap', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const memory = lease();
  await assertRefused('too_large', bomb, 'gzip', { maxBytes: 1_000_000, memory });
  assert.ok(memory.grownTo() <= 1_000_000);
  await assertRefused('unavailable', bomb, 'gzip', { maxBytes: 1e9, memory: lease(500_000) });
  for (const [coding, other] of [
    ['deflate', deflateSync(Buffer.alloc(64 * 1024 * 1024))],
    ['zstd', zstdCompressSync(Buffer.alloc(64 * 1024 * 1024))],
  ] as const) {
    await assertRefused('too_large', other, coding, { maxBytes: 1_000_000 });
    await assertRefused('unavailable', other, coding, { maxBytes: 1e9, memory: lease(500_000) });
  }
  // The declared length exceeds the data that follows.
  const liar = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00]);
  await assertRefused('too_large', liar, 'snappy');
  await assertRefused('unavailable', liar, 'snappy', { maxBytes: 2 ** 33, memory: lease(1000) });
});
