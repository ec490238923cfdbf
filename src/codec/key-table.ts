/** Looks up byte ranges as keys without allocating strings. */
import { randomInt } from 'node:crypto';

export interface KeyTable {
  /** Candidates by length. */
  readonly byLength: readonly (
    | readonly { readonly bytes: Uint8Array; readonly index: number }[]
    | undefined
  )[];
}

export function createKeyTable(keys: readonly string[]): KeyTable {
  const byLength: { bytes: Uint8Array; index: number }[][] = [];
  for (const [index, key] of keys.entries()) {
    const bytes = Buffer.from(key);
    byLength[bytes.length] ??= [];
    byLength[bytes.length]?.push({ bytes, index });
  }
  return { byLength };
}

/** @returns the index of the key in the list of `createKeyTable`, or -1 */
export function findKey(table: KeyTable, source: Uint8Array, start: number, end: number): number {
  const candidates = table.byLength[end - start];
  if (candidates === undefined) return -1;
  for (const { bytes, index } of candidates) {
    let i = 0;
    while (i < bytes.length && bytes[i] === source[start + i]) i += 1;
    if (i === bytes.length) return index;
  }
  return -1;
}

/** Random, so that a sender cannot choose keys that collide. */
const seed = randomInt(0x7fff_ffff);

/** FNV-1a with a random start. */
export function hashKey(source: Uint8Array, start: number, end: number): number {
  let hash = seed;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ source[i]!, 0x0100_0193);
  return hash ^ (hash >>> 15);
}
