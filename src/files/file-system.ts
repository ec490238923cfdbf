/**
 * File operations for durable files. Each maps to one system call, so that tests can replace the
 * disk by a simulated one that drops unsynced data.
 */
import fs from 'node:fs';
import { syncing } from './disk-failure.ts';

/** A file descriptor. */
export type FileId = number;

/** `create` opens a new file for reading and writing, and fails if it exists. */
export type OpenMode = 'create' | 'read' | 'update';

/** Data is durable once `sync` returns, names once `syncDirectory` does; both throw SyncFailure. */
export interface FileSystem {
  /** With its parents; may exist. */
  makeDirectory(path: string): void;
  /** Names of plain files, in no order. */
  list(directory: string): string[];
  /** @param permissions of a created file; default: readable by its owner only */
  open(path: string, mode: OpenMode, permissions?: number): FileId;
  size(file: FileId): number;
  /** @returns bytes read; may be fewer than requested */
  read(file: FileId, target: Uint8Array, position: number): number;
  /** @returns bytes written; may be fewer than given */
  write(file: FileId, source: Uint8Array, position: number): number;
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
