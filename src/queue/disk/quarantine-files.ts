/**
 * The files of the quarantine on disk: `<sequence>.batch` holds one frame, `.json` the reason, and
 * the frame is called `.retry` once it is to be drained again, `.damaged` once it proves to be
 * none. It knows nothing of stores and their answers.
 */
import { join } from 'node:path';
import type { StampedBatch } from '../../model/batch.ts';
import {
  decodeFrame,
  decodeFrameHeader,
  finishFrame,
  isBodyIntact,
  readFrameHeader,
} from '../frame.ts';
import type { FileSystem } from '../../files/file-system.ts';
import { readWhole, removeIfThere, replaceFile } from '../../files/whole-file.ts';

export const batchSuffix = '.batch';
export const retrySuffix = '.retry';
export const noteSuffix = '.json';
export const damagedSuffix = '.damaged';

/** Stems of the files with this ending, in the order of their batches. */
export function listStems(fs: FileSystem, folder: string, suffix: string): string[] {
  return stemsAmong(fs.list(folder), suffix);
}

/** As `listStems`, of a folder whose names are known. */
export function stemsAmong(names: readonly string[], suffix: string): string[] {
  return names
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .sort();
}

/** @returns undefined where the file holds no whole frame, or is gone. */
export function readBatch(fs: FileSystem, folder: string, name: string): StampedBatch | undefined {
  const bytes = readWhole(fs, join(folder, name));
  const header = bytes && readFrameHeader(bytes, 0);
  if (bytes === undefined || header === undefined) return undefined;
  return isBodyIntact(bytes, 0, header) ? decodeFrame(bytes) : undefined;
}

/** Writes a batch and the reason beside it; both are durable on return. */
export function writeBatch(fs: FileSystem, folder: string, frame: Buffer, reason: string): void {
  finishFrame(frame, 0, 0);
  const name = decodeFrameHeader(frame, 0).sequence.toString().padStart(20, '0');
  const note = Buffer.from(`${JSON.stringify({ sequence: name, reason }, undefined, 2)}\n`);
  replaceFile(fs, join(folder, name + noteSuffix), note);
  replaceFile(fs, join(folder, name + batchSuffix), frame);
}

/** Durable on return. @param names in the order of removal; some may be gone. */
export function removeFiles(fs: FileSystem, folder: string, names: readonly string[]): void {
  for (const name of names) removeIfThere(fs, join(folder, name));
  fs.syncDirectory(folder);
}

/**
 * Finishes what a process was killed in the middle of: afterwards a batch lies there under one
 * name, and no note without its batch.
 */
export function finishRetries(fs: FileSystem, folder: string): void {
  const names = fs.list(folder);
  const setAside = new Set(stemsAmong(names, batchSuffix));
  const retried = new Set(stemsAmong(names, retrySuffix));
  const kept = new Set([...setAside, ...retried, ...stemsAmong(names, damagedSuffix)]);
  const useless = stemsAmong(names, noteSuffix)
    .filter((stem) => !kept.has(stem))
    .map((stem) => stem + noteSuffix);
  for (const stem of retried) {
    if (!setAside.has(stem)) continue;
    // It was refused again, and what was asked for was not removed yet. The newer one is as good,
    // unless it was not written to its end.
    if (!isWhole(fs, folder, stem + batchSuffix)) useless.push(stem + batchSuffix);
    else fs.rename(join(folder, stem + batchSuffix), join(folder, stem + retrySuffix));
  }
  removeFiles(fs, folder, useless);
}

function isWhole(fs: FileSystem, folder: string, name: string): boolean {
  try {
    return readBatch(fs, folder, name) !== undefined;
  } catch {
    return false;
  }
}
