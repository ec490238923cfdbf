/** The content codings of answers: which one a client prefers, and the compression of JSON. */
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';

const zstdLevel = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const brotliLevel = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const gzipLevel = { level: 1 };

interface Compressor {
  readonly compress: (body: Uint8Array) => Buffer;
  /** Compresses in the thread pool. */
  readonly open: () => Transform;
}

/**
 * Each at its fastest level. A page of 1,000 logs, 907 KB, becomes 41 KB in 0.9 ms of CPU time with
 * zstd, 53 KB in 1.1 ms with brotli, and 67 KB in 2.1 ms with gzip.
 */
const compressors: Readonly<Record<'zstd' | 'br' | 'gzip', Compressor>> = {
  zstd: {
    compress: (body) => zstdCompressSync(body, zstdLevel),
    open: () => createZstdCompress(zstdLevel),
  },
  br: {
    compress: (body) => brotliCompressSync(body, brotliLevel),
    open: () => createBrotliCompress(brotliLevel),
  },
  gzip: {
    compress: (body) => gzipSync(body, gzipLevel),
    open: () => createGzip(gzipLevel),
  },
};

/** In order of preference. */
export const answerCodings = ['zstd', 'br', 'gzip'] as const;

/** What is smaller fits in a packet. */
const minBytes = 1024;
/** Up to here compressing holds the event loop no longer than a hand-over to the thread pool. */
const maxSyncBytes = 128 * 1024;

interface Encoded {
  /** Undefined = none. */
  readonly coding: (typeof answerCodings)[number] | undefined;
  readonly body: Uint8Array | string;
}

/** @param accepted `Accept-Encoding`; undefined = none */
export async function compressFor(
  accepted: string | undefined,
  body: Uint8Array | string,
): Promise<Encoded> {
  const plain: Encoded = { coding: undefined, body };
  if (accepted === undefined) return plain;
  const { coding, isIdentityRefused } = preferredCoding(accepted, answerCodings);
  if (coding === undefined || (body.length < minBytes && !isIdentityRefused)) return plain;
  const { compress, open } = compressors[coding];
  if (body.length > maxSyncBytes) return { coding, body: await compressInPieces(open(), body) };
  return { coding, body: compress(typeof body === 'string' ? Buffer.from(body) : body) };
}

async function compressInPieces(stream: Transform, body: Uint8Array | string): Promise<Buffer> {
  const collect = (chunks: AsyncIterable<Buffer>) => Array.fromAsync(chunks);
  return Buffer.concat(await pipeline(piecesOf(body), stream, collect));
}

/**
 * Each piece of a text overwrites the one before. All of it as bytes would double the memory of the
 * answer, and collecting that garbage would take longer than compressing does.
 */
function* piecesOf(body: Uint8Array | string): Generator<Uint8Array> {
  if (typeof body !== 'string') {
    yield body;
    return;
  }
  const encoder = new TextEncoder();
  const piece = Buffer.allocUnsafeSlow(pieceBytes);
  for (let rest = body; rest.length > 0; ) {
    const { read, written } = encoder.encodeInto(rest, piece);
    yield piece.subarray(0, written);
    rest = rest.slice(read);
  }
}

/** More than a stream buffers, so that each piece is compressed before the next is asked for. */
const pieceBytes = 128 * 1024;

/**
 * RFC 9110 §12.5.3. `*` stands for gzip alone: clients that send it do not all decode the others.
 * @param accepted `Accept-Encoding`
 * @param offered best first, among equals to the client
 * @returns no coding if the client prefers none
 */
export function preferredCoding<Coding extends string>(
  accepted: string,
  offered: readonly Coding[],
): { readonly coding: Coding | undefined; readonly isIdentityRefused: boolean } {
  const weights = parseWeights(accepted);
  const any = weights.get('*');
  const identity = weights.get('identity') ?? any;
  let best: Coding | undefined;
  let bestWeight = 0;
  for (const coding of offered) {
    const weight = weights.get(coding) ?? (coding === 'gzip' ? any : undefined) ?? 0;
    if (weight <= bestWeight) continue;
    best = coding;
    bestWeight = weight;
  }
  const isPreferred = bestWeight >= (identity ?? 0);
  return { coding: isPreferred ? best : undefined, isIdentityRefused: identity === 0 };
}

/** A coding with a malformed weight is not used. */
function parseWeights(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', weight] = part.split(';', 2).map((text) => text.trim());
    const [, value] = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(weight ?? 'q=1') ?? [];
    weights.set(name, Number(value ?? 0));
  }
  return weights;
}
