/**
 * Random text in lower-case base32 (RFC 4648 §6, no padding): safe in paths and headers, selectable
 * by double click.
 */

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** @returns `length` characters of 5 random bits each. */
export function randomBase32(length: number): string {
  let text = '';
  for (const byte of crypto.getRandomValues(new Uint8Array(length))) text += alphabet[byte & 31];
  return text;
}

/** 26 characters: 130 random bits, as in `rcv_…` and `tok_…`. */
export function createId(prefix: 'rcv' | 'tok'): string {
  return `${prefix}_${randomBase32(26)}`;
}
