/** An open log file: its identity, and what was written after a position. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasErrorCode } from '../../std/error-text.ts';
import type { FilePosition } from './checkpoints.ts';
import type { SourceLine } from './shipped-line.ts';

const headBytes = 256;
export const maxReadBytes = 1024 * 1024;
const lineFeed = 0x0a;

export interface TailedFile {
  /** Device and inode. */
  readonly id: string;
  size(): number;
  /** Lines between two offsets, at most 1 MiB. @param takesRest also a line that nothing ends */
  lines(from: number, until: number, takesRest: boolean): SourceLine[];
  head(bytes: number): FilePosition['head'];
  close(): void;
}

/** @returns undefined if there is no such regular file @throws Error if it is not readable */
export function openFile(path: string): TailedFile | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    // Deleted since it was listed.
    if (isGone(error)) return undefined;
    throw error;
  }
  const stats = fstatSync(file);
  if (!stats.isFile()) {
    closeSync(file);
    return undefined;
  }
  const read = (from: number, length: number): Buffer => {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const count = readSync(file, bytes, done, length - done, from + done);
      if (count === 0) break;
      done += count;
    }
    return bytes.subarray(0, done);
  };
  return {
    id: idOf(stats),
    size: () => fstatSync(file).size,
    lines(from, until, takesRest) {
      const bytes = read(from, Math.min(maxReadBytes, until - from));
      return splitLines(bytes, from, takesRest || bytes.length === maxReadBytes);
    },
    head(wanted) {
      const bytes = read(0, Math.min(headBytes, wanted));
      return { bytes: bytes.length, digest: createHash('sha256').update(bytes).digest('hex') };
    },
    close: () => closeSync(file),
  };
}

/** Whether the file still begins as it did. */
export function hasHead(file: TailedFile, head: FilePosition['head']): boolean {
  const now = file.head(head.bytes);
  return now.bytes === head.bytes && now.digest === head.digest;
}

/** @returns the identity of the file at this path @throws Error if its folder is not readable */
export function idAt(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? idOf(stats) : undefined;
  } catch (error) {
    // A link that leads to itself is no file, and no reason to stop with the others.
    if (isGone(error) || hasErrorCode(error, 'ELOOP')) return undefined;
    throw error;
  }
}

/** Finds a file that was renamed within its folder. @throws Error if that is not readable */
export function findRenamed(path: string, id: string): string | undefined {
  const folder = dirname(path);
  try {
    return readdirSync(folder)
      .map((name) => join(folder, name))
      .find((other) => idAt(other) === id);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Whether the file, or a folder of its path, is gone or is now a file. */
function isGone(error: unknown): boolean {
  return hasErrorCode(error, 'ENOENT', 'ENOTDIR');
}

function idOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`;
}

/** @param takesRest whether the last piece counts as a line although nothing ends it */
function splitLines(bytes: Buffer, from: number, takesRest: boolean): SourceLine[] {
  const lines: SourceLine[] = [];
  let at = 0;
  for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, at)) {
    const text = bytes.toString('utf8', at, end);
    lines.push({ text, number: lines.length + 1, from: from + at, end: from + end + 1 });
    at = end + 1;
  }
  const isRestTaken =
    takesRest && at < bytes.length && (lines.length === 0 || bytes.length < maxReadBytes);
  if (isRestTaken) {
    const text = bytes.toString('utf8', at);
    lines.push({ text, number: lines.length + 1, from: from + at, end: from + bytes.length });
  }
  return lines;
}
