/** A file that is there in whole or not at all. */
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CommandError } from '../terminal.ts';

/**
 * Writes beside the file and renames at the end; what is there already stays until then.
 * @throws CommandError where the file cannot be written; what the chunks throw as it is
 */
export async function writeFileWhole(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const part = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString('hex')}.part`);
  const handle = await open(part, 'wx').catch((error: unknown) => fail(file, error));
  try {
    for await (const chunk of chunks) {
      await handle.writeFile(chunk).catch((error: unknown) => fail(file, error));
    }
    await handle.sync().catch((error: unknown) => fail(file, error));
    await handle.close();
    await rename(part, file).catch((error: unknown) => fail(file, error));
  } catch (error) {
    await handle.close();
    await rm(part, { force: true });
    throw error;
  }
}

function fail(file: string, error: unknown): never {
  throw new CommandError(`cannot write ${file}: ${error instanceof Error ? error.message : ''}`);
}
