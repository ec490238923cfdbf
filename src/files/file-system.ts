/**
 * The file operations that durable files are built from. Each is synchronous and maps to one system
 * call, so that the same code runs on a real disk and on a simulated one that drops unsynced data.
 */
import fs from 'node:fs';
import { syncing } from './disk-failure.ts';

/** An open file, as the file system numbers it. */
export type FileId = number;

/** `create` opens a new file for reading and writing, and fails where it exists. */
export type OpenMode = 'create' | 'read' | 'update';

/**
 * Every call throws on failure. Nothing is durable before `sync` (data) and `syncDirectory` (names)
 * returned; these two throw SyncFailure.
 */
export interface FileSystem {
  /** Makes the directory and its parents where absent. */
  makeDirectory(path: string): void;
  /** Names of the plain files in it, in no order. */
  list(directory: string): string[];
  /** @param permissions of a created file; default: readable by its owner only */
  open(path: string, mode: OpenMode, permissions?: number): FileId;
  size(file: FileId): number;
  /** @returns bytes read; fewer than asked at the end of the file, or for no reason at all. */
  read(file: FileId, target: Uint8Array, position: number): number;
  /** @returns bytes written; may be fewer than given. */
  write(file: FileId, source: Uint8Array, position: number): number;
  /** Cuts the file off after `length` bytes. */
  truncate(file: FileId, length: number): void;
  sync(file: FileId): void;
  close(file: FileId): void;
  /** Replaces `to` atomically. */
  rename(from: string, to: string): void;
  unlink(path: string): void;
  syncDirectory(path: string): void;
  /** Bytes an unprivileged process may still write. */
  freeBytes(directory: string): number;
}

const openFlags = { create: 'wx+', read: 'r', update: 'r+' } as const;

export function createNodeFileSystem(): FileSystem {
  return {
    makeDirectory: (path) => void fs.mkdirSync(path, { recursive: true, mode: 0o700 }),
    list: (directory) =>
      fs
        .readdirSync(directory, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name),
    open: (path, mode, permissions = 0o600) => fs.openSync(path, openFlags[mode], permissions),
    size: (file) => fs.fstatSync(file).size,
    read: (file, target, position) => fs.readSync(file, target, 0, target.length, position),
    write: (file, source, position) => fs.writeSync(file, source, 0, source.length, position),
    truncate: (file, length) => fs.ftruncateSync(file, length),
    sync: (file) => syncing(() => fs.fdatasyncSync(file)),
    close: (file) => fs.closeSync(file),
    rename: (from, to) => fs.renameSync(from, to),
    unlink: (path) => fs.unlinkSync(path),
    syncDirectory: (path) => syncing(() => syncDirectory(path)),
    freeBytes(directory) {
      const { bavail, bsize } = fs.statfsSync(directory);
      return bavail * bsize;
    },
  };
}

function syncDirectory(path: string): void {
  const directory = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(directory);
  } finally {
    fs.closeSync(directory);
  }
}
