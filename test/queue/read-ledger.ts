/** Reads the ledger that `writer.ts` keeps. */
import { readFile } from 'node:fs/promises';

/** The acknowledged numbers, in order; none if there is no file yet. */
export async function readLedger(path: string): Promise<number[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').slice(0, -1).map(Number);
}
