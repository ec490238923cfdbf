/** Files that appear only when they are complete. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { renameDurably } from '../../files/whole-file.ts';
import { CommandError } from '../terminal.ts';
import { messageOf } from '../../std/error-text.ts';

/**
 * Writes beside the file and renames at the end, so an existing file stays until then. Replaces
 * the target of a link; writes to a device or a pipe directly.
 * @throws CommandError where the file cannot be written; any error of the chunks
 */
export async function writeFileWhole(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const existing = await stat(file).catch(() => undefined);
  if (existing !== undefined && !existing.isFile()) {
    await writeTo(await openFor(file, file, 'w'), file, chunks);
    return;
  }
  const target = existing === undefined ? file : await realpath(file);
  const suffix = randomBytes(4).toString('hex');
  const part = join(dirname(target), `.${basename(target)}.${suffix}.part`);
  const handle = await openFor(part, file, 'wx');
  try {
    await writeTo(handle, file, chunks);
    try {
      renameDurably(part, target);
    } catch (error) {
      fail(file, error);
    }
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function openFor(path: string, file: string, flags: 'w' | 'wx'): Promise<FileHandle> {
  return open(path, flags).catch((error: unknown) => fail(file, error));
}

/** Closes the handle. */
async function writeTo(
  handle: FileHandle,
  file: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      await handle.writeFile(chunk).catch((error: unknown) => fail(file, error));
    }
    // Syncing a device or a pipe fails.
    if ((await handle.stat()).isFile()) {
      await handle.sync().catch((error: unknown) => fail(file, error));
    }
  } finally {
    await handle.close();
  }
}

function fail(file: string, error: unknown): never {
  throw new CommandError(`cannot write ${file}: ${messageOf(error)}`);
}
