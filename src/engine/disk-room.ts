/**
 * Refuses to begin a write for which the disk may not have room. chDB would cut it short without a
 * word, so that the engine has to be started again.
 */
import { statfs } from 'node:fs/promises';
import { EngineException } from './exceptions.ts';

/** Rows are written, sorted and merged in files of their own. */
const insertReserveBytes = 64 * 2 ** 20;
/** Of a change to a table or a drop of a day, which writes some small files. */
const changeReserveBytes = 16 * 2 ** 20;

/** @throws EngineException 243 where less is free on the disk of `folder` than it takes */
export async function assertDiskRoom(folder: string, kind: 'insert' | 'change'): Promise<void> {
  const needed = kind === 'insert' ? insertReserveBytes : changeReserveBytes;
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= needed) return;
  const message = `cannot write to the store: no space left, ${free} bytes are free of ${needed}`;
  throw new EngineException(243, message);
}
