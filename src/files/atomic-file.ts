/**
 * Reads, writes and replaces whole files. After a power cut a replaced file holds either the old
 * bytes or the new ones.
 */
import { dirname, join } from 'node:path';
import { createNodeFileSystem, type FileId, type FileSystem } from './file-system.ts';
import { hasErrorCode } from '../std/error-text.ts';

export const temporarySuffix = '.tmp';

export function writeFully(
  fs: FileSystem,
  file: FileId,
  bytes: Uint8Array,
  position: number,
): void {
  let done = 0;
  while (done < bytes.length) {
    const written = fs.write(file, bytes.subarray(done), position + done);
    if (written <= 0) throw new Error(`cannot write at ${position + done}: the disk took none`);
    done += written;
  }
}

/** Reads `length` bytes, or fewer at the end of the file. The result owns its ArrayBuffer. */
export function readRange(
  fs: FileSystem,
  file: FileId,
  position: number,
  length: number,
): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(new ArrayBuffer(length));
  let done = 0;
  while (done < length) {
    const read = fs.read(file, bytes.subarray(done), position + done);
    if (read <= 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

/** @returns undefined if there is no such file */
export function readWhole(fs: FileSystem, path: string): Buffer | undefined {
  try {
    return reading(fs, path, (file) => readRange(fs, file, 0, fs.size(file)));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Opens a file for reading, and closes it after `use`. */
export function reading<Result>(
  fs: FileSystem,
  path: string,
  use: (file: FileId) => Result,
): Result {
  const file = fs.open(path, 'read');
  try {
    return use(file);
  } finally {
    fs.close(file);
  }
}

/** Creates a file; data and name are durable on return. */
export function createFile(fs: FileSystem, path: string, bytes: Uint8Array): void {
  writeSynced(fs, path, bytes);
  fs.syncDirectory(dirname(path));
}

function writeSynced(fs: FileSystem, path: string, bytes: Uint8Array, permissions?: number): void {
  const file = fs.open(path, 'create', permissions);
  try {
    writeFully(fs, file, bytes, 0);
    fs.sync(file);
  } finally {
    fs.close(file);
  }
}

/** Replaces a file atomically and durably: write, fsync, rename, fsync of the directory. */
export function replaceFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array,
  permissions?: number,
): void {
  const temporary = path + temporarySuffix;
  // A leftover could have other permissions.
  removeIfThere(fs, temporary);
  writeSynced(fs, temporary, bytes, permissions);
  fs.rename(temporary, path);
  fs.syncDirectory(dirname(path));
}

/** @param permissions default: readable by its owner only */
export function replaceTextFile(path: string, text: string, permissions?: number): void {
  replaceFile(createNodeFileSystem(), path, Buffer.from(text), permissions);
}

/** Renames durably within one file system. */
export function renameDurably(from: string, to: string): void {
  const fs = createNodeFileSystem();
  fs.rename(from, to);
  for (const folder of new Set([dirname(to), dirname(from)])) fs.syncDirectory(folder);
}

/** Removes unfinished replacements of a crashed process. */
export function removeTemporaries(fs: FileSystem, directory: string): void {
  for (const name of fs.list(directory)) {
    if (name.endsWith(temporarySuffix)) fs.unlink(join(directory, name));
  }
}

export function removeIfThere(fs: FileSystem, path: string): void {
  try {
    fs.unlink(path);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** Whether a call failed because the file does not exist. */
export function isAbsent(error: unknown): boolean {
  return hasErrorCode(error, 'ENOENT');
}
