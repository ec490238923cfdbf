/** Files and directories of the simulated file system: cached and durable state. */
import type { Random } from './random.ts';

export type Change = Write | Truncation;

interface Write {
  readonly position: number;
  readonly bytes: Uint8Array;
}

interface Truncation {
  /** Durable bytes. */
  readonly length: number;
}

export interface Inode {
  content: Uint8Array;
  synced: Uint8Array;
  unsynced: Change[];
}

export interface NameChange {
  readonly name: string;
  /** Undefined = the name was removed. */
  readonly inode: Inode | undefined;
  readonly removed: string | undefined;
}

export interface Directory {
  names: Map<string, Inode>;
  synced: Map<string, Inode>;
  unsynced: NameChange[];
}

const sectorBytes = 512;

/** A file after a power cut: any of its unsynced sectors, whole or torn. */
export function survivingContent({ synced, unsynced }: Inode, random: Random): Uint8Array {
  let content = synced;
  for (const change of unsynced) {
    if ('length' in change) {
      if (random.chance(0.5)) content = apply(content, change);
      continue;
    }
    const fate = random.below(4);
    if (fate === 0) continue;
    for (let at = 0; at < change.bytes.length; at += sectorBytes) {
      const bytes = change.bytes.subarray(at, at + sectorBytes);
      const torn = fate === 2 ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
      if (fate === 1 || random.chance(0.7)) {
        content = apply(content, { position: change.position + at, bytes: torn });
      }
    }
  }
  return content;
}

/** The content after a change; holes are zeros. */
export function apply(content: Uint8Array, change: Change): Uint8Array {
  if ('length' in change) return content.slice(0, change.length);
  const { position, bytes } = change;
  const changed = new Uint8Array(Math.max(content.length, position + bytes.length));
  changed.set(content);
  changed.set(bytes, position);
  return changed;
}

export function applyName(names: Map<string, Inode>, { name, inode, removed }: NameChange): void {
  if (removed !== undefined) names.delete(removed);
  if (inode === undefined) names.delete(name);
  else names.set(name, inode);
}
