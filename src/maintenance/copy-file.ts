/** Copies files so that they outlast a power cut, and tells their digests while it does. */
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
 * Copies the first `bytes` bytes to a new file for its owner alone, synced; its name is not yet.
 * @throws Error where the source is shorter; the reason of the signal
 */
export async function copyFile(
  file: { readonly source: string; readonly bytes: number },
  target: string,
  signal: AbortSignal,
): Promise<Copied> {
  const from = await open(file.source, 'r');
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const to = await open(target, 'wx', 0o600);
    try {
      const copied = await pump(from, { to, bytes: file.bytes, signal });
      if (copied.bytes < file.bytes) {
        throw new Error(`cannot copy ${file.source}: it has become shorter`);
      }
      await to.sync();
      return copied;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** The digest of a file as a whole. @throws the reason of the signal */
export async function digestFile(source: string, signal: AbortSignal): Promise<Copied> {
  const from = await open(source, 'r');
  try {
    return await pump(from, { bytes: Number.MAX_SAFE_INTEGER, signal });
  } finally {
    await from.close();
  }
}

interface Pumping {
  /** Undefined where the bytes are only looked at. */
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

/** Makes durable which files are in a folder. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** What a full disk is called to an operator; any other error as it is. */
export function toSpaceSentence(error: unknown, folder: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new Error(
    `cannot write to ${folder}: no space is left there; free some, or choose another disk`,
    { cause: error },
  );
}
