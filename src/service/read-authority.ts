/** Certificates of an authority, which a setting names. */
import { readFileSync } from 'node:fs';
import { messageOf } from '../std/error-text.ts';

/** @param key of the setting. @returns undefined for an empty one. @throws Error that names it */
export function readAuthority(key: string, file: string): string | undefined {
  if (file === '') return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`cannot use ${key}: ${messageOf(cause)}`, { cause });
  }
}
