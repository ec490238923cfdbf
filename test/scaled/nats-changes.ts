/** Changes to the folder of a stopped NATS: an older copy, cut or missing files. */
import { cpSync, existsSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** Restores whole streams. */
export function putBack(folder: string, copy: string, names: readonly string[]): void {
  for (const name of names) replace(join(folder, name), join(copy, name));
}

/** Restores messages but not consumers, which know of later ones. */
export function putMessagesBack(folder: string, copy: string, names: readonly string[]): void {
  for (const name of names) replace(join(folder, name, 'msgs'), join(copy, name, 'msgs'));
}

/** @param kept share of the last block to keep */
export function cutEnd(folder: string, names: readonly string[], kept: number): void {
  for (const name of names) {
    const blocks = filesOf(join(folder, name, 'msgs'), /\.blk$/);
    const number = (path: string) => Number(/(\d+)\.blk$/.exec(path)?.[1]);
    const last = blocks.sort((a, b) => number(a) - number(b)).at(-1);
    if (last === undefined) throw new Error(`the stream ${name} has no block`);
    truncateSync(last, Math.floor(statSync(last).size * kept));
  }
}

/** Removes what the server can rebuild from the blocks. */
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

/** Removes the state of consumers: delivered and acknowledged sequences. */
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
