/**
 * The small files beside the segments: `identity` says who writes the log, `checkpoint` up to where
 * it is released, `synced` up to where it is known to be on disk.
 */
import { randomBytes } from 'node:crypto';
import { defineRecord, type RecordFormat } from '../../codec/record.ts';
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { readWhole, replaceFile } from '../../files/atomic-file.ts';

/** 2 where there are earlier writers: a release that knows none must not open the log. */
export const identityVersion = 2;
const plainIdentityVersion = 1;
/** As many as the record has room for. */
export const maxEarlierWriters = 5;

const identityFormat = defineRecord('WQID', 64, {
  version: [8, 'u32'],
  /** 64 random bits drawn when the directory is created or restored. */
  writer: [16, 'u64'],
  /** Writers of the batches in a restored directory; at most `maxEarlierWriters`. */
  earlier: [24, 'list'],
});

const checkpointFormat = defineRecord('WQCP', 64, {
  version: [8, 'u32'],
  writer: [16, 'u64'],
  /** Batches up to this sequence need no further work. */
  released: [24, 'u64'],
  /** The highest sequence known to be assigned. */
  lastSequence: [32, 'u64'],
  /** No later batch may be stamped at or before this; Unix ns. */
  floorNanos: [40, 'u64'],
  /** Batches ever appended up to `released`, where that was recorded. */
  releasedBatches: [48, 'optional'],
});

const syncedFormat = defineRecord('WQSM', 80, {
  version: [8, 'u32'],
  writer: [16, 'u64'],
  /** Of the newest segment; 0 = none, since all up to `lastSequence` was released. */
  firstSequence: [24, 'u64'],
  /** Offset after its last synced frame. */
  end: [32, 'size'],
  lastSequence: [40, 'u64'],
  /** Batches ever appended, up to `lastSequence`. */
  batches: [48, 'u64'],
  /** First sequence of the key file being written, 0 = none, and its synced bytes. */
  keyFile: [56, 'u64'],
  keyFileBytes: [64, 'size'],
  updates: [72, 'u64'],
});

type RecordOf<Format> = Format extends RecordFormat<infer Record> ? Record : never;
export type Identity = RecordOf<typeof identityFormat>;
export type Checkpoint = Omit<RecordOf<typeof checkpointFormat>, 'version'>;
type Slot = RecordOf<typeof syncedFormat>;
export type Synced = Omit<Slot, 'version' | 'updates'>;

/** `new`: absent, like everything else in the directory. */
export type RecordState = 'read' | 'new' | 'absent' | 'damaged' | 'foreign';

/** The record, or why there is none. */
export type Found<Record> = Record | 'absent' | 'damaged';

export function createIdentity(earlier: readonly bigint[]): Identity {
  const version = earlier.length === 0 ? plainIdentityVersion : identityVersion;
  return { version, writer: randomBytes(8).readBigUInt64LE(0), earlier };
}

export function readIdentity(fs: FileSystem, path: string): Found<Identity> {
  return readRecord(fs, path, identityFormat);
}

export function writeIdentity(fs: FileSystem, path: string, identity: Identity): void {
  replaceFile(fs, path, identityFormat.encode(identity));
}

export function readCheckpoint(fs: FileSystem, path: string): Found<Checkpoint> {
  return readRecord(fs, path, checkpointFormat);
}

export function writeCheckpoint(fs: FileSystem, path: string, checkpoint: Checkpoint): void {
  replaceFile(fs, path, checkpointFormat.encode({ ...checkpoint, version: 1 }));
}

function readRecord<Record>(
  fs: FileSystem,
  path: string,
  format: RecordFormat<Record>,
): Found<Record> {
  const bytes = readWhole(fs, path);
  if (bytes === undefined) return 'absent';
  return (bytes.length === format.bytes ? format.decode(bytes) : undefined) ?? 'damaged';
}

/** @returns no record where it belongs to another writer */
export function ofWriter<Record extends { readonly writer: bigint }>(
  found: Found<Record>,
  writer: bigint,
): { record: Record | undefined; state: RecordState } {
  if (typeof found === 'string') return { record: undefined, state: found };
  if (found.writer !== writer) return { record: undefined, state: 'foreign' };
  return { record: found, state: 'read' };
}

/** Each slot has its own sector. */
const sectorBytes = 512;
const runningSlots = [0, 1] as const;
const startSlot = 2;
/** Earlier versions used the last one at every other start. */
const slots = [...runningSlots, startSlot, 3] as const;
const syncedFileBytes = slots.length * sectorBytes;

/** The mark of a log without segments. */
export function nothingSynced(writer: bigint, released = 0n): Synced {
  const none = { firstSequence: 0n, end: 0, batches: 0n };
  return { writer, ...none, lastSequence: released, keyFile: 0n, keyFileBytes: 0 };
}

/** @param last the newest segment that is needed; undefined = all up to `released` was released */
export function toSynced(
  { writer, released }: Checkpoint,
  last: Pick<Synced, 'firstSequence' | 'end' | 'lastSequence'> | undefined,
  counts: Pick<Synced, 'batches' | 'keyFile' | 'keyFileBytes'>,
): Synced {
  const { firstSequence, end, lastSequence } = last ?? nothingSynced(writer, released);
  return { writer, firstSequence, end, lastSequence, ...counts };
}

/**
 * The file `synced`. Data before the mark was acknowledged: if missing, batches are lost. Data
 * after it may be the torn end of an unclean stop. After every sync the mark is overwritten in
 * place, in two slots that alternate; it is not synced itself, which costs next to nothing, so that
 * after a power cut it may lag. The slot of the start remains where a power cut tears both.
 */
export class SyncedMark {
  readonly #fs: FileSystem;
  readonly #file: FileId;
  #updates = 1n;

  constructor(fs: FileSystem, file: FileId) {
    this.#fs = fs;
    this.#file = file;
  }

  /** To be called once all of it is synced. */
  write(synced: Synced): void {
    const slot = encodeSlot(synced, ++this.#updates);
    const at = runningSlots[Number(this.#updates % 2n)] ?? 0;
    try {
      this.#fs.write(this.#file, slot, at * sectorBytes);
    } catch {
      // The mark lags, which is allowed: the sync that matters has succeeded.
    }
  }

  close(): void {
    this.#fs.close(this.#file);
  }
}

/** Replaces the file by one with this mark; durable on return. */
export function openSyncedMark(fs: FileSystem, path: string, synced: Synced): SyncedMark {
  writeSyncedMark(fs, path, synced);
  return new SyncedMark(fs, fs.open(path, 'update'));
}

export function writeSyncedMark(fs: FileSystem, path: string, synced: Synced): void {
  const bytes = Buffer.alloc(syncedFileBytes);
  encodeSlot(synced, 1n).copy(bytes, startSlot * sectorBytes);
  replaceFile(fs, path, bytes);
}

function encodeSlot(synced: Synced, updates: bigint): Buffer {
  return syncedFormat.encode({ ...synced, version: 1, updates });
}

export function readSyncedMark(fs: FileSystem, path: string): Found<Synced> {
  const bytes = readWhole(fs, path);
  if (bytes === undefined) return 'absent';
  if (bytes.length !== syncedFileBytes) return 'damaged';
  let newest: Slot | undefined;
  for (const slot of slots) {
    const at = slot * sectorBytes;
    const found = syncedFormat.decode(bytes.subarray(at, at + syncedFormat.bytes));
    if (found !== undefined && found.updates > (newest?.updates ?? -1n)) newest = found;
  }
  // Blank after the interrupted first start of an earlier version.
  return newest ?? (bytes.every((byte) => byte === 0) ? 'absent' : 'damaged');
}
