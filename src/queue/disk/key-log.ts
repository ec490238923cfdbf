/**
 * Idempotency keys that outlive their segments: append-only files, a new one at least every hour,
 * in which each finished segment leaves one chunk. It never looks at a clock: the stamps of the
 * keys say how old they are.
 */
import { join } from 'node:path';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { readRange, writeFully } from '../../files/whole-file.ts';
import { readChunkHeader } from './key-chunk.ts';

const namePattern = /^\d{20}\.keys$/;
const hourNanos = 3_600_000_000_000n;

export interface KeyLogOptions {
  readonly directory: string;
  /** Files whose newest key is older than this are removed; ms. */
  readonly ttlMs: number;
  /** So many keys are kept at least, as long as they live; older files are removed. */
  readonly maxKeys: number;
}

interface KeyFile {
  readonly path: string;
  readonly hour: bigint;
  keys: number;
  newestNanos: bigint;
  bytes: number;
}

export class KeyLog {
  readonly #fs: FileSystem;
  readonly #options: KeyLogOptions;
  /** Oldest first. */
  readonly #files: KeyFile[] = [];
  #current: { readonly file: FileId; readonly record: KeyFile } | undefined;

  constructor(fs: FileSystem, options: KeyLogOptions) {
    this.#fs = fs;
    this.#options = options;
  }

  /** Reads what earlier processes left: the newest `maxKeys` keys as chunks, oldest first. */
  load(): Buffer[] {
    const names = this.#fs.list(this.#options.directory).filter((name) => namePattern.test(name));
    const newestFirst: Buffer[] = [];
    let keys = 0;
    for (const name of names.sort().reverse()) {
      if (keys >= this.#options.maxKeys) break;
      const path = join(this.#options.directory, name);
      const { record, chunks } = this.#loadFile(path);
      this.#files.unshift(record);
      newestFirst.push(...chunks.reverse());
      keys += record.keys;
    }
    for (const name of names.slice(0, names.length - this.#files.length)) {
      this.#fs.unlink(join(this.#options.directory, name));
    }
    return newestFirst.reverse();
  }

  /**
   * Writes one chunk and syncs it.
   * @param firstSequence of the segment the keys come from; names the file where a new one is due.
   */
  append(chunk: Buffer, firstSequence: bigint): void {
    const header = readChunkHeader(chunk, 0);
    if (header === undefined) throw new Error('cannot append to the key log: not a chunk');
    const current = this.#fileOf(header.newestNanos / hourNanos, firstSequence);
    writeFully(this.#fs, current.file, chunk, current.record.bytes);
    this.#fs.sync(current.file);
    current.record.bytes += chunk.length;
    current.record.keys += header.keys;
    current.record.newestNanos = header.newestNanos;
    this.#prune(header.newestNanos);
  }

  close(): void {
    if (this.#current !== undefined) this.#fs.close(this.#current.file);
    this.#current = undefined;
  }

  #loadFile(path: string): { record: KeyFile; chunks: Buffer[] } {
    const file = this.#fs.open(path, 'read');
    const bytes = readRange(this.#fs, file, 0, this.#fs.size(file));
    this.#fs.close(file);
    const record: KeyFile = { path, hour: -1n, keys: 0, newestNanos: 0n, bytes: bytes.length };
    const chunks: Buffer[] = [];
    for (let offset = 0; ; ) {
      const header = readChunkHeader(bytes, offset);
      if (header === undefined) break;
      chunks.push(bytes.subarray(offset, offset + header.length));
      record.keys += header.keys;
      record.newestNanos = header.newestNanos;
      offset += header.length;
    }
    return { record, chunks };
  }

  /** A file an earlier process wrote to is never continued: its end may be torn. */
  #fileOf(hour: bigint, firstSequence: bigint): { file: FileId; record: KeyFile } {
    if (this.#current !== undefined && this.#hasRoom(this.#current.record, hour)) {
      return this.#current;
    }
    this.close();
    const name = `${firstSequence.toString().padStart(20, '0')}.keys`;
    const path = join(this.#options.directory, name);
    const known = this.#files.findIndex((record) => record.path === path);
    if (known >= 0) this.#files.splice(known, 1);
    if (this.#fs.list(this.#options.directory).includes(name)) this.#fs.unlink(path);
    const file = this.#fs.open(path, 'create');
    this.#fs.syncDirectory(this.#options.directory);
    const record = { path, hour, keys: 0, newestNanos: 0n, bytes: 0 };
    this.#files.push(record);
    this.#current = { file, record };
    return this.#current;
  }

  /** Files stay small beside the limit, so that it can be kept by removing whole ones. */
  #hasRoom(record: KeyFile, hour: bigint): boolean {
    return record.hour === hour && record.keys < this.#options.maxKeys / 8;
  }

  #prune(nowNanos: bigint): void {
    const oldestNanos = nowNanos - BigInt(this.#options.ttlMs) * 1_000_000n;
    let keys = this.#files.reduce((sum, record) => sum + record.keys, 0);
    while (this.#files.length > 1) {
      const oldest = this.#files[0];
      if (oldest === undefined) return;
      const rest = keys - oldest.keys;
      if (oldest.newestNanos >= oldestNanos && rest < this.#options.maxKeys) return;
      this.#fs.unlink(oldest.path);
      this.#files.shift();
      keys = rest;
    }
  }
}
