/** Copies files durably and computes their digests. */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

const chunkBytes = 1024 * 1024;

export interface Copied {
  /** SHA-256, hexadecimal. */
  readonly digest: string;
  readonly bytes: number;
}

/**
 * Copies the first `bytes` bytes to a new synced file with mode 0600. The caller syncs its folder.
 * @throws Error when the source is shorter; the signal's reason
 */
export async function copyFile(
  file: { readonly source: string; readonly bytes: number },
  target: string,
  signal: AbortSignal,
): Promise<Copied> {
  await using from = await open(file.source, 'r');
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await using to = await open(target, 'wx', 0o600);
  const copied = await pump(from, { to, bytes: file.bytes, signal });
  if (copied.bytes < file.bytes) {
    throw new Error(`cannot copy ${file.source}: it has become shorter`);
  }
  await to.sync();
  return copied;
}

/** @throws the signal's reason */
export async function digestFile(source: string, signal: AbortSignal): Promise<Copied> {
  await using from = await open(source, 'r');
  return await pump(from, { bytes: Number.MAX_SAFE_INTEGER, signal });
}

interface Pumping {
  /** Undefined = only compute the digest. */
  readonly to?: FileHandle;
  readonly bytes: number;
  readonly signal: AbortSignal;
}

async function pump(from: FileHandle, { to, bytes, signal }: Pumping): Promise<Copied> {
  const hash: Hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, bytes)));
  let done = 0;
  while (done < bytes) {
    signal.throwIfAborted();
    const wanted = Math.min(buffer.length, bytes - done);
    const { bytesRead } = await from.read(buffer, 0, wanted, done);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    if (to !== undefined) await to.writeFile(chunk);
    done += bytesRead;
  }
  return { digest: hash.digest('hex'), bytes: done };
}

/** Fsyncs a folder, which makes the names in it durable. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}

/** Names the folder when the disk is full; returns any other error unchanged. */
export function toDiskFullError(error: unknown, folder: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new Error(
    `cannot write to ${folder}: no space left; free some space or choose another disk`,
    { cause: error },
  );
}
