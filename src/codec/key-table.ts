/** Finds a range of bytes among a few known keys without making a string of it. */

export interface KeyTable {
  /** Candidates by length of key. */
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

/** @returns the key's index in the list the table was made of, or -1. */
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
