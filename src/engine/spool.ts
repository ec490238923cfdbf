/**
 * Stores the body of an INSERT in a file until chDB has read it, so that memory stays bounded and
 * an INSERT starts only when its data are complete. The files are in the working directory of the
 * process, which is removed at its end.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EngineException } from './exceptions.ts';

export interface SpoolFile {
  /** Relative to the working directory. */
  readonly path: string;
  remove(): Promise<void>;
}

const folder = 'spool';
/** Joins chunks of the socket to larger writes. */
const writeBufferBytes = 2 ** 20;

export type Spool = Awaited<ReturnType<typeof openSpool>>;

export async function openSpool(maxBytes: number) {
  await mkdir(folder, { mode: 0o700 });
  let count = 0;
  return {
    /**
     * Writes `head` and then the body to a new file.
     * @throws EngineException 307 over the limit, 243 when the disk is full, 236 when the client
     * disconnected
     */
    async write(head: string, body: Readable): Promise<SpoolFile> {
      const path = `${folder}/${++count}.body`;
      const remove = () => rm(path, { force: true });
      const file = createWriteStream(path, {
        flags: 'wx',
        mode: 0o600,
        highWaterMark: writeBufferBytes,
      });
      try {
        await pipeline(Readable.from(limited(head, body, maxBytes)), file);
      } catch (error) {
        await remove();
        throw spoolFailure(error);
      }
      return { path, remove };
    },
  };
}

async function* limited(head: string, body: Readable, maxBytes: number) {
  if (head !== '') yield Buffer.from(head);
  let bytes = Buffer.byteLength(head);
  // Destroying the body would close the connection before the refusal is sent.
  const parts: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false });
  for await (const chunk of parts) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      const advice = `over ${maxBytes} bytes; send less at once or raise maxInsertBytes`;
      throw new EngineException(307, `cannot accept the data of the INSERT: ${advice}`);
    }
    yield chunk;
  }
}

function spoolFailure(cause: unknown): unknown {
  if (cause instanceof EngineException) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new EngineException(243, 'cannot keep the data of the INSERT: no space left', { cause });
  }
  return new EngineException(236, `cannot read the data of the INSERT: ${message}`, { cause });
}
