/**
 * How far the log is known to be on disk. The mark is overwritten in place after every sync and is
 * not synced itself, so it costs next to nothing; after a power cut it may lag, and it never runs
 * ahead. Data before the mark was acknowledged: where it is missing, batches are lost. Data after
 * it may be the torn end of an unclean stop.
 *
 * Two slots take turns. Two more take turns at each start, and are synced: one of them is whole
 * after a power cut that tears all others. Each slot has its own sector. Little endian:
 *  0 u32 magic "WQSM"   4 u32 CRC32C of bytes 8..80   8 u32 version   16 u64 writer
 * 24 u64 first sequence of the segment   32 u64 end of its synced frames   40 u64 last sequence
 * 48 u64 batches ever appended   56 u64 first sequence of the key file   64 u64 its synced bytes
 * 72 u64 updates
 */
import { crc32c } from '@node-rs/crc32';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { readRange, readWhole, replaceFile, writeFully } from '../../files/whole-file.ts';

const magic = Buffer.from('WQSM', 'latin1').readUInt32LE(0);
const version = 1;
const slotBytes = 80;
const sectorBytes = 512;
const runningSlots = [0, 1] as const;
const startSlots = [2, 3] as const;
const fileBytes = (runningSlots.length + startSlots.length) * sectorBytes;

/** What had been synced. */
export interface Synced {
  readonly writer: bigint;
  /** Of the segment that was being written. */
  readonly firstSequence: bigint;
  /** Offset behind its last synced frame. */
  readonly end: number;
  readonly lastSequence: bigint;
  /** Batches that were ever appended to this log, up to `lastSequence`. */
  readonly batches: bigint;
  /** Names the key file that was being written; 0 = none. */
  readonly keyFile: bigint;
  readonly keyFileBytes: number;
}

export function nothingSynced(writer: bigint): Synced {
  const none = { firstSequence: 0n, end: 0, lastSequence: 0n, batches: 0n };
  return { writer, ...none, keyFile: 0n, keyFileBytes: 0 };
}

export class SyncedMark {
  readonly #fs: FileSystem;
  readonly #file: FileId;
  readonly #startSlot: number;
  #updates: bigint;

  /** @param at the updates so far, and the slot that this start may overwrite */
  constructor(fs: FileSystem, file: FileId, at: { updates: bigint; startSlot: number }) {
    this.#fs = fs;
    this.#file = file;
    this.#updates = at.updates;
    this.#startSlot = at.startSlot;
  }

  /** To be called once all of it is synced. A mark that is not written lags, which is allowed. */
  write(synced: Synced): void {
    const slot = encode(synced, ++this.#updates);
    const at = runningSlots[Number(this.#updates % 2n)] ?? 0;
    try {
      this.#fs.write(this.#file, slot, at * sectorBytes);
    } catch {
      // The sync that matters has succeeded.
    }
  }

  /** For the start, once; durable on return. */
  settle(synced: Synced): void {
    const slot = encode(synced, ++this.#updates);
    writeFully(this.#fs, this.#file, slot, this.#startSlot * sectorBytes);
    this.#fs.sync(this.#file);
  }

  close(): void {
    this.#fs.close(this.#file);
  }
}

/** @returns the mark, and what it says; `absent` in a directory that never had one */
export function openSyncedMark(
  fs: FileSystem,
  path: string,
): { mark: SyncedMark; found: Synced | 'absent' | 'damaged' } {
  const size = readWhole(fs, path)?.length;
  if (size !== fileBytes) replaceFile(fs, path, Buffer.alloc(fileBytes));
  const file = fs.open(path, 'update');
  const read = (slot: number) => readRange(fs, file, slot * sectorBytes, slotBytes);
  const slots = [...runningSlots, ...startSlots].map(read);
  const newest = newestOf(slots.map(decode));
  const [first, second] = startSlots.map(read).map(decode);
  const isFirstNewer = (first?.updates ?? 0n) > (second?.updates ?? 0n);
  const startSlot = isFirstNewer ? startSlots[1] : startSlots[0];
  const mark = new SyncedMark(fs, file, { updates: newest?.updates ?? 0n, startSlot });
  if (newest !== undefined) return { mark, found: newest };
  const isNew = size === undefined || (size === fileBytes && slots.every(isBlank));
  return { mark, found: isNew ? 'absent' : 'damaged' };
}

interface Slot extends Synced {
  readonly updates: bigint;
}

function newestOf(slots: readonly (Slot | undefined)[]): Slot | undefined {
  return slots.reduce((best, slot) => {
    return slot !== undefined && slot.updates > (best?.updates ?? -1n) ? slot : best;
  }, undefined);
}

function isBlank(slot: Buffer): boolean {
  return slot.every((byte) => byte === 0);
}

function encode(synced: Synced, updates: bigint): Buffer {
  const bytes = Buffer.alloc(slotBytes);
  bytes.writeUInt32LE(magic, 0);
  bytes.writeUInt32LE(version, 8);
  bytes.writeBigUInt64LE(synced.writer, 16);
  bytes.writeBigUInt64LE(synced.firstSequence, 24);
  bytes.writeBigUInt64LE(BigInt(synced.end), 32);
  bytes.writeBigUInt64LE(synced.lastSequence, 40);
  bytes.writeBigUInt64LE(synced.batches, 48);
  bytes.writeBigUInt64LE(synced.keyFile, 56);
  bytes.writeBigUInt64LE(BigInt(synced.keyFileBytes), 64);
  bytes.writeBigUInt64LE(updates, 72);
  bytes.writeUInt32LE(crc32c(bytes.subarray(8)), 4);
  return bytes;
}

function decode(bytes: Buffer): Slot | undefined {
  if (bytes.length < slotBytes || bytes.readUInt32LE(0) !== magic) return undefined;
  if (crc32c(bytes.subarray(8)) !== bytes.readUInt32LE(4)) return undefined;
  return {
    writer: bytes.readBigUInt64LE(16),
    firstSequence: bytes.readBigUInt64LE(24),
    end: Number(bytes.readBigUInt64LE(32)),
    lastSequence: bytes.readBigUInt64LE(40),
    batches: bytes.readBigUInt64LE(48),
    keyFile: bytes.readBigUInt64LE(56),
    keyFileBytes: Number(bytes.readBigUInt64LE(64)),
    updates: bytes.readBigUInt64LE(72),
  };
}
