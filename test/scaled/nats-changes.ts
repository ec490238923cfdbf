/**
 * What may have become of a NATS's folder before it starts again: put back to an older copy, cut
 * short as by a power cut, or without some of its files. For servers that do not run.
 */
import { cpSync, existsSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** @param names of streams, all of what belongs to them */
export function putBack(folder: string, copy: string, names: readonly string[]): void {
  for (const name of names) replace(join(folder, name), join(copy, name));
}

/** Messages alone: consumers know of later ones. */
export function putMessagesBack(folder: string, copy: string, names: readonly string[]): void {
  for (const name of names) replace(join(folder, name, 'msgs'), join(copy, name, 'msgs'));
}

/** @param kept share of the last block that stays */
export function cutEnd(folder: string, names: readonly string[], kept: number): void {
  for (const name of names) {
    const blocks = filesOf(join(folder, name, 'msgs'), /\.blk$/);
    const number = (path: string) => Number(/(\d+)\.blk$/.exec(path)?.[1]);
    const last = blocks.sort((a, b) => number(a) - number(b)).at(-1);
    if (last === undefined) throw new Error(`the stream ${name} has no block`);
    truncateSync(last, Math.floor(statSync(last).size * kept));
  }
}

/** Of the messages: what can be made anew from the blocks. */
export function removeIndex(folder: string, names: readonly string[]): void {
  for (const name of names) {
    for (const path of filesOf(join(folder, name, 'msgs'), /\.(idx|fss)$/)) rmSync(path);
  }
}

export function putIndexBack(folder: string, copy: string, names: readonly string[]): void {
  for (const name of names) {
    for (const path of filesOf(join(folder, name, 'msgs'), /\.idx$/)) {
      const old = path.replace(folder, copy);
      if (existsSync(old)) cpSync(old, path);
      else rmSync(path);
    }
  }
}

/** What consumers have delivered and taken acknowledgements of. */
export function removeConsumerStates(folder: string, names: readonly string[]): void {
  for (const name of names) {
    for (const path of filesOf(join(folder, name, 'obs'), /^o\.dat$/)) rmSync(path);
  }
}

export function putConsumerStatesBack(
  folder: string,
  copy: string,
  names: readonly string[],
): void {
  for (const name of names) {
    for (const path of filesOf(join(folder, name, 'obs'), /^o\.dat$/)) {
      const old = path.replace(folder, copy);
      if (existsSync(old)) cpSync(old, path);
    }
  }
}

export function removeConsumers(folder: string, names: readonly string[]): void {
  for (const name of names) rmSync(join(folder, name, 'obs'), { recursive: true, force: true });
}

function replace(path: string, by: string): void {
  rmSync(path, { recursive: true, force: true });
  cpSync(by, path, { recursive: true });
}

function filesOf(folder: string, name: RegExp): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((each) => each.isFile() && name.test(each.name))
    .map((each) => join(each.parentPath, each.name));
}
