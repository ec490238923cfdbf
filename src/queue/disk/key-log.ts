/**
 * Idempotency keys that outlive their segments: append-only files, a new one at least every hour,
 * to which each finished segment adds one chunk. Age is judged by the stamps of the keys, not by a
 * clock. A file begins with a link to the previous one, which reveals a missing or shortened file.
 */
import { join } from 'node:path';
import { defineRecord } from '../../codec/record.ts';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { readWhole, writeFully } from '../../files/atomic-file.ts';
import { readChunkHeader } from './key-chunk.ts';
import type { QueueDamage } from '../../telemetry/queue-events.ts';

const namePattern = /^(\d{20})\.keys$/;
const hourNanos = 3_600_000_000_000n;

export interface KeyLogOptions {
  readonly directory: string;
  /** Files whose newest key is older are removed; ms. */
  readonly ttlMs: number;
  /** At least so many unexpired keys are kept; older files are removed. */
  readonly maxKeys: number;
}

/** How far the newest file is known to be synced. */
export interface KeysSynced {
  /** Names the file; 0 = none. */
  readonly keyFile: bigint;
  readonly keyFileBytes: number;
}

interface KeyFile {
  readonly path: string;
  /** Names it. */
  readonly firstSequence: bigint;
  readonly hour: bigint;
  readonly previous: Link | undefined;
  keys: number;
  newestNanos: bigint;
  /** Of its intact chunks that are known to be synced. */
  bytes: number;
}

const linkFormat = defineRecord('WKF1', 32, {
  /** Names the previous file; 0 = none. */
  firstSequence: [8, 'u64'],
  bytes: [16, 'size'],
  /** Unix ns of its newest key. */
  newestNanos: [24, 'u64'],
});
type Link = NonNullable<ReturnType<typeof linkFormat.decode>>;

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

  /** A file that holds only a link is not counted: it may be gone after a power cut. */
  get synced(): KeysSynced {
    const newest = this.#files.findLast(({ bytes }) => bytes > linkFormat.bytes);
    return { keyFile: newest?.firstSequence ?? 0n, keyFileBytes: newest?.bytes ?? 0 };
  }

  /**
   * Reads the newest `maxKeys` keys of earlier processes as chunks, oldest first.
   * @param synced what the mark says of the newest file
   */
  load(synced: KeysSynced | undefined): { chunks: Buffer[]; damage: QueueDamage[] } {
    const names = this.#fs.list(this.#options.directory).filter((name) => namePattern.test(name));
    const newestFirst: Buffer[] = [];
    let keys = 0;
    for (const name of names.sort().reverse()) {
      if (keys >= this.#options.maxKeys) break;
      const { record, chunks } = this.#loadFile(name);
      this.#files.unshift(record);
      newestFirst.push(...chunks.reverse());
      keys += record.keys;
    }
    const isWhole = this.#files.length === names.length && keys < this.#options.maxKeys;
    for (const name of names.slice(0, names.length - this.#files.length)) {
      this.#fs.unlink(join(this.#options.directory, name));
    }
    const damage = this.#findDamage(synced, isWhole);
    const newest = this.#files.at(-1);
    // Data beyond the mark may be in the page cache only.
    if (newest !== undefined) newest.bytes = Math.min(newest.bytes, syncedBytes(newest, synced));
    return { chunks: newestFirst.reverse(), damage };
  }

  /** Durable on return. @param firstSequence of the segment; names a new file */
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

  #loadFile(name: string): { record: KeyFile; chunks: Buffer[] } {
    const path = join(this.#options.directory, name);
    const bytes = readWhole(this.#fs, path) ?? Buffer.alloc(0);
    const previous = linkFormat.decode(bytes);
    const firstSequence = BigInt(namePattern.exec(name)?.[1] ?? 0);
    const chunks: Buffer[] = [];
    // Files of earlier releases have no link.
    let offset = previous === undefined ? 0 : linkFormat.bytes;
    let keys = 0;
    let newestNanos = 0n;
    for (;;) {
      const header = readChunkHeader(bytes, offset);
      if (header === undefined) break;
      chunks.push(bytes.subarray(offset, offset + header.length));
      keys += header.keys;
      newestNanos = header.newestNanos;
      offset += header.length;
    }
    const read = { keys, newestNanos, bytes: offset };
    return { record: { path, firstSequence, hour: -1n, previous, ...read }, chunks };
  }

  /**
   * Compares every file with the link to it, in the next file or the mark.
   * @param isWhole every file was read, so that an absent one is missing
   */
  #findDamage(synced: KeysSynced | undefined, isWhole: boolean): QueueDamage[] {
    const damage: QueueDamage[] = [];
    const newest = this.#files.length - 1;
    for (let at = -1; at <= newest; at++) {
      const file = this.#files[at];
      const link = this.#files[at + 1]?.previous ?? (at === newest ? toLink(synced) : undefined);
      if (link === undefined || link.firstSequence < (file?.firstSequence ?? 1n)) continue;
      const isFile = file?.firstSequence === link.firstSequence;
      if (isFile && file.bytes >= link.bytes) continue;
      const mayBePruned = at === -1 && newest >= 0 && !(isWhole && this.#isUnexpired(link));
      if (!mayBePruned) damage.push(describeLostKeys(link, isFile ? file.bytes : 0));
    }
    return damage;
  }

  #isUnexpired(link: Link): boolean {
    const nowNanos = this.#files.at(-1)?.newestNanos ?? 0n;
    return link.newestNanos > nowNanos - this.#ttlNanos;
  }

  /** Never appends to a file of an earlier process, whose end may be torn. */
  #fileOf(hour: bigint, firstSequence: bigint): { file: FileId; record: KeyFile } {
    if (this.#current !== undefined && this.#hasRoom(this.#current.record, hour)) {
      return this.#current;
    }
    this.close();
    const { keyFile, keyFileBytes } = this.synced;
    // The segment may have named a file before an interrupted start.
    const newestName = this.#files.at(-1)?.firstSequence ?? 0n;
    const named = firstSequence > newestName ? firstSequence : newestName + 1n;
    const path = join(this.#options.directory, keyFileName(named));
    const newestNanos = this.#files.at(-1)?.newestNanos ?? 0n;
    const previous: Link = { firstSequence: keyFile, bytes: keyFileBytes, newestNanos };
    const file = this.#fs.open(path, 'create');
    try {
      writeFully(this.#fs, file, linkFormat.encode(previous), 0);
    } catch (error) {
      this.#fs.close(file);
      this.#fs.unlink(path);
      throw error;
    }
    this.#fs.syncDirectory(this.#options.directory);
    const empty = { keys: 0, newestNanos: 0n, bytes: linkFormat.bytes };
    const record = { path, firstSequence: named, hour, previous, ...empty };
    this.#files.push(record);
    this.#current = { file, record };
    return this.#current;
  }

  /** Files are small compared to the limit, which is kept by removing whole ones. */
  #hasRoom(record: KeyFile, hour: bigint): boolean {
    return record.hour === hour && record.keys < this.#options.maxKeys / 8;
  }

  get #ttlNanos(): bigint {
    return BigInt(this.#options.ttlMs) * 1_000_000n;
  }

  #prune(nowNanos: bigint): void {
    const oldestNanos = nowNanos - this.#ttlNanos;
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

function keyFileName(firstSequence: bigint): string {
  return `${firstSequence.toString().padStart(20, '0')}.keys`;
}

function toLink(synced: KeysSynced | undefined): Link | undefined {
  return synced && { firstSequence: synced.keyFile, bytes: synced.keyFileBytes, newestNanos: 0n };
}

function syncedBytes(file: KeyFile, synced: KeysSynced | undefined): number {
  return synced?.keyFile === file.firstSequence ? synced.keyFileBytes : 0;
}

function describeLostKeys(link: Link, intactBytes: number): QueueDamage {
  return {
    kind: 'keys',
    segment: keyFileName(link.firstSequence),
    offset: intactBytes,
    bytes: link.bytes - intactBytes,
    fromSequence: 0n,
    toSequence: 0n,
    batches: 0,
  };
}
