/** Finds files by patterns, follows them through rotations, and ships what is written to them. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../std/error-text.ts';
import { within } from '../sending/pump.ts';
import type { Checkpoints } from './checkpoints.ts';
import { type FileOptions, ShippedFile } from './ship-file.ts';
import { findRenamed, hasHead, idAt, openFile, type TailedFile } from './tailed-file.ts';

export interface FollowingParts {
  readonly checkpoints: Checkpoints;
  /** Skips what files contain when they are first seen. */
  readonly fromEnd: boolean;
  readonly stop: AbortSignal;
}

/** Rotated files, which were read before they were compressed. */
const compressed = /\.(?:gz|zst|bz2|xz|zip)$/;
const pollMs = 250;
const listEveryMs = 1000;
const maxInFlight = 4;

/** Ends after `stop`, or once everything is sent if the files are read once. */
export async function followFiles(
  patterns: readonly string[],
  parts: FollowingParts,
  options: FileOptions,
): Promise<void> {
  const { checkpoints, stop } = parts;
  const files = new Map<string, ShippedFile>();
  resumeRotated(files, parts, options);
  let listed: Listing = { ids: new Set(), unreadable: new Map() };
  let listedAt = -Infinity;
  /** Ids of files that were there at the start, and have not been readable since. */
  let unread: ReadonlySet<string> = new Set();
  let stepping: Promise<boolean> | undefined;
  const list = async (): Promise<void> => {
    const isFirst = listedAt === -Infinity;
    const { unreadable } = listed;
    const isOld = (path: string, id: string) => isFirst || unread.has(id) || unread.has(path);
    const fromEnd = (path: string, id: string) => parts.fromEnd && isOld(path, id);
    listed = await followMatching(patterns, files, { parts, options, fromEnd, unreadable });
    const old = [...listed.unreadable].filter(([path, id]) => isOld(path, id));
    unread = new Set(old.map(([, id]) => id));
    listedAt = performance.now();
  };
  while (!stop.aborted) {
    if (performance.now() - listedAt >= listEveryMs) await list();
    stepping ??= stepAll([...files.values()], stop);
    const hasSent = await within(stepping, listEveryMs);
    // Within an outage a file may be created and renamed: it must be known before.
    if (hasSent === undefined) {
      checkpoints.save();
      continue;
    }
    stepping = undefined;
    for (const [id, file] of files) {
      if (!listed.ids.has(id) && file.isDone) forget(id, file, files, checkpoints);
    }
    if (hasSent || stop.aborted) continue;
    checkpoints.save();
    const isOver = ({ isSent, isUnreadable }: ShippedFile) => isSent || isUnreadable;
    if (options.isEnding && [...files.values()].every(isOver)) break;
    await sleep(pollMs, undefined, { signal: stop }).catch(() => undefined);
  }
  await stepping;
  for (const { file } of files.values()) file.close();
  const failed = [...files.values()].filter(({ isUnreadable }) => isUnreadable);
  const count = listed.unreadable.size + failed.length;
  if (count > 0 && !stop.aborted) throw new Error(`files that are not readable: ${count}`);
}

/** What matches now. */
interface Listing {
  readonly ids: ReadonlySet<string>;
  /** Paths, each reported once, and the ids of their files; the path where that is unknown. */
  readonly unreadable: ReadonlyMap<string, string>;
}

async function followMatching(
  patterns: readonly string[],
  files: Map<string, ShippedFile>,
  following: Following,
): Promise<Listing> {
  const ids = new Set<string>();
  const unreadable = new Map<string, string>();
  for await (const path of matching(patterns)) {
    if (compressed.test(path) || unreadable.has(path)) continue;
    let file: TailedFile | undefined;
    let id: string | undefined;
    try {
      id = idAt(path);
      if (id !== undefined && !files.has(id)) file = openFile(path);
      if (file !== undefined) follow(path, file, files, following);
      ids.add(file?.id ?? id ?? '');
    } catch (error) {
      file?.close();
      unreadable.set(path, id ?? following.unreadable.get(path) ?? path);
      if (following.unreadable.has(path)) continue;
      following.options.warn(`skipping ${path} until it is readable: ${messageOf(error)}`);
    }
  }
  return { ids, unreadable };
}

/** A pattern that is the name of a file means that file, as where a shell has expanded it. */
async function* matching(patterns: readonly string[]): AsyncGenerator<string> {
  for (const pattern of patterns) {
    const path = resolve(pattern);
    if (existsSync(path)) yield path;
    else yield* glob(path);
  }
}

/** @returns whether any file had something to send */
async function stepAll(files: readonly ShippedFile[], stop: AbortSignal): Promise<boolean> {
  let hasSent = false;
  const queue = files.values();
  const work = async () => {
    for (const file of queue) {
      if (stop.aborted) return;
      hasSent = (await file.step()) || hasSent;
    }
  };
  await Promise.all(Array.from({ length: maxInFlight }, work));
  return hasSent;
}

interface Following {
  readonly parts: FollowingParts;
  readonly options: FileOptions;
  /** Whether to skip what a file contains that is new. */
  readonly fromEnd: (path: string, id: string) => boolean;
  /** In the listing before. */
  readonly unreadable: Listing['unreadable'];
}

function follow(
  path: string,
  file: TailedFile,
  files: Map<string, ShippedFile>,
  following: Following,
): void {
  const { checkpoints } = following.parts;
  if (files.has(file.id)) {
    file.close();
    return;
  }
  let position = checkpoints.state.files[file.id];
  if (position === undefined || !hasHead(file, position.head)) {
    const size = file.size();
    const start = following.fromEnd(path, file.id) ? { offset: size } : { offset: 0, lines: 0 };
    position = { path, epoch: randomUUID(), head: file.head(size), ...start };
  }
  position.path = path;
  checkpoints.state.files[file.id] = position;
  files.set(file.id, new ShippedFile(file, position, checkpoints, following.options));
}

/** Files that were renamed while the command did not run. */
function resumeRotated(
  files: Map<string, ShippedFile>,
  { checkpoints }: FollowingParts,
  options: FileOptions,
): void {
  for (const [id, position] of Object.entries(checkpoints.state.files)) {
    let file: TailedFile | undefined;
    try {
      if (idAt(position.path) === id) continue;
      const path = findRenamed(position.path, id);
      file = path === undefined ? undefined : openFile(path);
    } catch (error) {
      // The next start may find it readable.
      options.warn(`cannot look for ${position.path}, which was renamed: ${messageOf(error)}`);
      continue;
    }
    if (file?.id === id && hasHead(file, position.head)) {
      files.set(id, new ShippedFile(file, position, checkpoints, options));
      continue;
    }
    file?.close();
    delete checkpoints.state.files[id];
    options.warn(`${position.path} as it was is gone: its rest cannot be sent`);
  }
}

function forget(
  id: string,
  { file }: ShippedFile,
  files: Map<string, ShippedFile>,
  { state }: Checkpoints,
): void {
  file.close();
  files.delete(id);
  delete state.files[id];
}
