/**
 * A file system in memory that distinguishes written from synced data, can stop at any step, and
 * loses any unsynced sectors, sizes and names on a power cut.
 */
import { basename, dirname } from 'node:path';
import { SyncFailure } from '../../src/files/disk-failure.ts';
import type { FileId, FileSystem, OpenMode } from '../../src/files/file-system.ts';
import type { Random } from './random.ts';
import {
  apply,
  applyName,
  type Directory,
  type Inode,
  type NameChange,
  survivingContent,
} from './simulated-disk.ts';

/** Thrown by the step at which the machine stops, and by all later steps. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

export class SimulatedFileSystem implements FileSystem {
  readonly #random: Random;
  readonly #directories = new Map<string, Directory>();
  readonly #open = new Map<FileId, Inode>();
  #lastFile = 0;
  #stepsLeft = Number.POSITIVE_INFINITY;
  #syncsUntilFailure = Number.POSITIVE_INFINITY;
  #writesUntilFull = Number.POSITIVE_INFINITY;
  #fullWrites = 0;
  #isCrashed = false;
  free = 1e12;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Stops the machine after so many more steps. */
  crashAfter(steps: number): void {
    this.#stepsLeft = steps;
  }

  /** Fails one sync after so many more. */
  failSyncAfter(syncs: number): void {
    this.#syncsUntilFailure = syncs;
  }

  /** After so many more writes, fails so many with a full disk. */
  fillAfter(writes: number, fullWrites: number): void {
    this.#writesUntilFull = writes;
    this.#fullWrites = fullWrites;
  }

  /** After a kill: the next process sees all files. */
  afterKill(): SimulatedFileSystem {
    return this.#successor(
      (inode) => inode,
      (directory) => directory,
    );
  }

  /** After a power cut: any part of the unsynced data is lost. */
  afterPowerLoss(): SimulatedFileSystem {
    const survivors = new Map<Inode, Inode>();
    const survive = (inode: Inode): Inode => {
      let survivor = survivors.get(inode);
      if (survivor === undefined) {
        const content = survivingContent(inode, this.#random);
        survivor = { content, synced: content, unsynced: [] };
        survivors.set(inode, survivor);
      }
      return survivor;
    };
    return this.#successor(survive, (directory) => {
      const names = new Map(directory.synced);
      for (const change of directory.unsynced) {
        if (this.#random.chance(0.5)) applyName(names, change);
      }
      return { names, synced: new Map(names), unsynced: [] };
    });
  }

  paths(): string[] {
    return [...this.#directories].flatMap(([directory, { names }]) =>
      [...names.keys()].map((name) => `${directory}/${name}`),
    );
  }

  contentOf(path: string): Uint8Array {
    return this.#find(path).content;
  }

  /** Flips a bit of some file, durably. @returns false without a file */
  flipBit(): boolean {
    const path = this.#random.pick([...this.paths(), undefined]);
    const content = path === undefined ? undefined : Uint8Array.from(this.contentOf(path));
    if (path === undefined || content === undefined || content.length === 0) return false;
    const at = this.#random.below(content.length);
    content[at] = (content[at] ?? 0) ^ (1 << this.#random.below(8));
    this.overwrite(path, content);
    return true;
  }

  /** Overwrites bytes durably. */
  overwrite(path: string, content: Uint8Array): void {
    const inode = { content, synced: content, unsynced: [] };
    const directory = this.#directoryOf(path);
    directory.names.set(basename(path), inode);
    directory.synced.set(basename(path), inode);
  }

  remove(path: string): void {
    this.#directoryOf(path).names.delete(basename(path));
    this.#directoryOf(path).synced.delete(basename(path));
  }

  makeDirectory(path: string): void {
    this.#step();
    if (this.#directories.has(path)) return;
    this.#directories.set(path, { names: new Map(), synced: new Map(), unsynced: [] });
  }

  list(directory: string): string[] {
    this.#look();
    return [...(this.#directories.get(directory)?.names.keys() ?? [])];
  }

  open(path: string, mode: OpenMode): FileId {
    const directory = this.#directoryOf(path);
    let inode = directory.names.get(basename(path));
    if (mode === 'create') {
      this.#assertRoom();
      if (inode !== undefined) throw new Error(`EEXIST: ${path}`);
      inode = { content: new Uint8Array(0), synced: new Uint8Array(0), unsynced: [] };
      this.#rename(directory, { name: basename(path), inode, removed: undefined });
    } else {
      this.#look();
    }
    if (inode === undefined) throw absent(path);
    this.#open.set(++this.#lastFile, inode);
    return this.#lastFile;
  }

  size(file: FileId): number {
    this.#look();
    return this.#inode(file).content.length;
  }

  read(file: FileId, target: Uint8Array, position: number): number {
    this.#look();
    const bytes = this.#inode(file).content.subarray(position, position + target.length);
    target.set(bytes);
    return bytes.length;
  }

  write(file: FileId, source: Uint8Array, position: number): number {
    this.#look();
    const inode = this.#inode(file);
    // Blocks within the file are already allocated.
    const grows = position + source.length > inode.content.length;
    if (grows) this.#assertRoom();
    const isLast = this.#stepsLeft-- <= 0;
    // A short write first, then ENOSPC.
    const isShort = isLast || (grows && this.#writesUntilFull <= 0) || this.#random.chance(0.1);
    const length = isShort ? this.#random.below(source.length) + 1 : source.length;
    const change = { position, bytes: source.slice(0, length) };
    inode.content = apply(inode.content, change);
    inode.unsynced.push(change);
    if (isLast) this.#crash();
    return length;
  }

  truncate(file: FileId, length: number): void {
    this.#step();
    const inode = this.#inode(file);
    const change = { length };
    inode.content = apply(inode.content, change);
    inode.unsynced.push(change);
  }

  sync(file: FileId): void {
    this.#step();
    const inode = this.#inode(file);
    if (this.#syncsUntilFailure-- <= 0) {
      // The kernel marks dirty pages clean: some reached the disk, the others never will.
      inode.synced = survivingContent(inode, this.#random);
      inode.unsynced = [];
      this.#syncsUntilFailure = Number.POSITIVE_INFINITY;
      throw new SyncFailure('EIO: sync');
    }
    inode.synced = inode.content;
    inode.unsynced = [];
  }

  close(file: FileId): void {
    this.#look();
    if (!this.#open.delete(file)) throw new Error(`EBADF: ${file}`);
  }

  rename(from: string, to: string): void {
    const directory = this.#directoryOf(to);
    const inode = this.#find(from);
    this.#rename(directory, { name: basename(to), inode, removed: basename(from) });
  }

  unlink(path: string): void {
    const directory = this.#directoryOf(path);
    this.#find(path);
    this.#rename(directory, { name: basename(path), inode: undefined, removed: undefined });
  }

  syncDirectory(path: string): void {
    this.#step();
    const directory = this.#directories.get(path);
    if (directory === undefined) return;
    directory.synced = new Map(directory.names);
    directory.unsynced = [];
  }

  freeBytes(): number {
    this.#look();
    return this.free;
  }

  #assertRoom(): void {
    if (this.#writesUntilFull-- > 0) return;
    if (this.#fullWrites-- > 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    this.#writesUntilFull = Number.POSITIVE_INFINITY;
  }

  get openFiles(): number {
    return this.#open.size;
  }

  #rename(directory: Directory, change: NameChange): void {
    this.#step();
    applyName(directory.names, change);
    directory.unsynced.push(change);
  }

  /** Counts a step, at which the machine may stop. */
  #step(): void {
    this.#look();
    if (this.#stepsLeft-- <= 0) this.#crash();
  }

  #look(): void {
    if (this.#isCrashed) throw new Crash('the machine has stopped');
  }

  #crash(): never {
    this.#isCrashed = true;
    throw new Crash('the machine stops');
  }

  #successor(
    inodeOf: (inode: Inode) => Inode,
    directoryOf: (directory: Directory) => Directory,
  ): SimulatedFileSystem {
    const next = new SimulatedFileSystem(this.#random);
    for (const [path, directory] of this.#directories) {
      const { names, synced, unsynced } = directoryOf(directory);
      next.#directories.set(path, {
        names: new Map([...names].map(([name, inode]) => [name, inodeOf(inode)])),
        synced: new Map([...synced].map(([name, inode]) => [name, inodeOf(inode)])),
        unsynced,
      });
    }
    return next;
  }

  #directoryOf(path: string): Directory {
    const directory = this.#directories.get(dirname(path));
    if (directory === undefined) throw absent(dirname(path));
    return directory;
  }

  #find(path: string): Inode {
    const inode = this.#directoryOf(path).names.get(basename(path));
    if (inode === undefined) throw absent(path);
    return inode;
  }

  #inode(file: FileId): Inode {
    const inode = this.#open.get(file);
    if (inode === undefined) throw new Error(`EBADF: ${file}`);
    return inode;
  }
}

function absent(path: string): Error {
  return Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
}
