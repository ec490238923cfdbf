/** Decompresses bodies with a hard cap, against decompression bombs. */
import {
  constants,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
} from 'node:zlib';
import { uncompress, uncompressSync } from 'snappy';
import { AppError } from '../model/errors.ts';
import type { ContentCoding } from '../model/protocol.ts';
import type { MemoryLease } from './port.ts';

/** Smaller bodies inflate faster than a thread pool can take them. */
const quickBytes = 8 * 1024;
/** Larger results are inflated on the thread pool. */
const quickInflatedBytes = 128 * 1024;
/**
 * The same for snappy, which writes 1 to 2 GB/s: a thread would take as long again, and leave the
 * result in the cache of another core.
 */
const quickUnsnappedBytes = 1024 * 1024;

/**
 * @param memory grown to the inflated size
 * @returns the body itself for `identity`
 * @throws AppError `too_large` | `malformed` | `unavailable` (no memory for it)
 */
export function inflate(
  body: Buffer,
  coding: ContentCoding,
  { maxBytes, memory }: { readonly maxBytes: number; readonly memory: MemoryLease },
): Buffer | Promise<Buffer> {
  switch (coding) {
    case 'identity':
      if (body.length > maxBytes) throw inflatedTooLarge(maxBytes);
      return body;
    case 'gzip':
      return gunzip(body, maxBytes, memory);
    case 'deflate':
    case 'zstd':
      return inflateInTurns(body, coding, maxBytes, memory);
    case 'snappy':
      return unsnappy(body, maxBytes, memory);
  }
}

function gunzip(body: Buffer, maxBytes: number, memory: MemoryLease): Buffer | Promise<Buffer> {
  if (body.length <= quickBytes) {
    try {
      const maxOutputLength = Math.min(maxBytes, quickInflatedBytes);
      const inflated = gunzipSync(body, { maxOutputLength });
      memory.growTo(inflated.length);
      return inflated;
    } catch (error) {
      if (error instanceof AppError) throw error;
      if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') {
        throw broken('gzip', error);
      }
    }
  }
  return inflateInTurns(body, 'gzip', maxBytes, memory);
}

type Streamed = 'gzip' | 'deflate' | 'zstd';

const chunkSize = 256 * 1024;
/** A larger window is more memory for each body; 8 MiB is the default of the zstd command. */
const maxZstdWindow = { [constants.ZSTD_d_windowLogMax]: 23 };

function createInflation(body: Buffer, coding: Streamed) {
  if (coding === 'gzip') return createGunzip({ chunkSize });
  if (coding === 'zstd') return createZstdDecompress({ chunkSize, params: maxZstdWindow });
  // RFC 9110 means the zlib format. Some senders leave out its head, a multiple of 31.
  const isZlib = body.length >= 2 && (body[0]! & 15) === 8 && body.readUInt16BE(0) % 31 === 0;
  return isZlib ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize });
}

/** On the thread pool in pieces: a bomb fails at the first piece beyond the cap. */
async function inflateInTurns(
  body: Buffer,
  coding: Streamed,
  maxBytes: number,
  memory: MemoryLease,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  const inflation = createInflation(body, coding);
  inflation.end(body);
  try {
    for await (const piece of inflation as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > maxBytes) throw inflatedTooLarge(maxBytes);
      memory.growTo(size);
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof AppError ? error : broken(coding, error);
  }
  // Node reads all members of gzip, and leaves what follows the end of the others.
  if (coding !== 'gzip' && inflation.bytesWritten < body.length) {
    throw broken(coding, new Error('bytes follow the end of the data'));
  }
  return Buffer.concat(pieces, size);
}

/** https://github.com/google/snappy/blob/main/format_description.txt: a length, then the data. */
function unsnappy(body: Buffer, maxBytes: number, memory: MemoryLease): Buffer | Promise<Buffer> {
  if (body.subarray(0, framedMark.length).equals(framedMark)) {
    throw new AppError(
      'malformed',
      'cannot inflate the body: it is framed snappy; send the block format',
    );
  }
  const declared = declaredLength(body);
  if (declared > maxBytes) throw inflatedTooLarge(maxBytes);
  memory.growTo(declared);
  if (declared <= quickUnsnappedBytes) {
    try {
      return uncompressSync(body) as Buffer;
    } catch (error) {
      throw brokenSnappy(error);
    }
  }
  return uncompress(body).then(
    (inflated) => inflated as Buffer,
    (error: unknown) => {
      throw brokenSnappy(error);
    },
  );
}

const framedMark = Buffer.from('\xff\x06\x00\x00sNaPpY', 'latin1');

/** A varint of at most 32 bits. */
function declaredLength(body: Buffer): number {
  let length = 0;
  for (let i = 0; i < 5; i += 1) {
    const byte = body[i];
    if (byte === undefined) break;
    length += (byte & 127) * 2 ** (7 * i);
    if (byte < 128) return length;
  }
  throw brokenSnappy(new Error('the body has no length'));
}

function inflatedTooLarge(maxBytes: number): AppError {
  return new AppError(
    'too_large',
    `cannot accept a body of more than ${maxBytes} bytes once inflated: ` +
      'split the batch and send the parts',
  );
}

function broken(coding: Streamed, cause: unknown): AppError {
  const message = `cannot inflate the body: it is not valid ${coding}`;
  return new AppError('malformed', message, { cause });
}

function brokenSnappy(cause: unknown): AppError {
  const message = 'cannot inflate the body: it is not a valid snappy block';
  return new AppError('malformed', message, { cause });
}
