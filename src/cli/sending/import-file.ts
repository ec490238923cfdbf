/**
 * A file that is imported: what it is, how it is read, and how far an earlier import of it came.
 * It knows nothing of what its lines say.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, readFileSync, rmSync } from 'node:fs';
import { open as openHandle, realpath } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { replaceTextFile } from '../../files/whole-file.ts';
import { CommandError } from '../terminal.ts';
import { hasErrorCode, messageOf } from '../../std/error-text.ts';

export interface ImportFile {
  readonly name: string;
  /** As it lies on disk. */
  readonly bytes: number;
  /**
   * Another file, another receiver and other settings have another one; the same import repeated
   * has the same. Standard input is never the same twice.
   */
  readonly identity: string;
  /** Inflated where it is gzip or zstd. */
  readonly open: () => FileReading;
}

export interface FileReading {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Of the bytes on disk. */
  readonly readBytes: () => number;
}

const headBytes = 64 * 1024;
const chunkBytes = 256 * 1024;

/** @param settings all that decides what is sent besides the file. @throws CommandError */
export async function findFile(name: string, settings: string): Promise<ImportFile> {
  try {
    const handle = await openHandle(name);
    try {
      const { size, mtimeNs } = await handle.stat({ bigint: true });
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      const head = buffer.subarray(0, bytesRead);
      // With the path: logs of two machines may begin alike, and each must be stored.
      const facts = [await realpath(name), size, mtimeNs, digest(head), settings];
      return {
        name,
        bytes: Number(size),
        identity: digest(facts.join('\0')),
        open: () => openFile(name, head),
      };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new CommandError(`cannot read ${name}: ${wordsOf(error)}`);
  }
}

export function standardInput(chunks: AsyncIterable<Uint8Array>): ImportFile {
  const reading = { chunks, readBytes: () => 0 };
  return { name: '-', bytes: 0, identity: randomUUID(), open: () => reading };
}

function openFile(name: string, head: Buffer): FileReading {
  const file = createReadStream(name, { highWaterMark: chunkBytes });
  const readBytes = () => file.bytesRead;
  if (head.subarray(0, 2).equals(gzipMark)) return { chunks: inflate(file, 'gzip'), readBytes };
  if (head.subarray(0, 4).equals(zstdMark)) return { chunks: inflate(file, 'zstd'), readBytes };
  return { chunks: file, readBytes };
}

const gzipMark = Buffer.from([0x1f, 0x8b]);
const zstdMark = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

function inflate(file: Readable, form: 'gzip' | 'zstd'): Readable {
  const options = { chunkSize: chunkBytes };
  const inflated = form === 'gzip' ? createGunzip(options) : createZstdDecompress(options);
  // Errors of the one reach whoever reads the other.
  return pipeline(file, inflated, () => {});
}

interface ImportState {
  readonly identity: string;
  readonly offset: number;
}

/** Beside the file, so that it is found again and belongs to whoever may read the file. */
function stateFile({ name }: ImportFile): string {
  return `${name}.weir-import`;
}

/**
 * @returns how many bytes of the file were settled by an earlier import, 0 without one.
 * @throws CommandError where that was of another file or had other settings
 */
export function readProgress(file: ImportFile): number {
  let state: Partial<ImportState>;
  try {
    state = JSON.parse(readFileSync(stateFile(file), 'utf8')) as Partial<ImportState>;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return 0;
    throw new CommandError(`cannot read ${stateFile(file)}: ${wordsOf(error)}`);
  }
  if (state.identity === file.identity && typeof state.offset === 'number') return state.offset;
  throw new CommandError(
    `cannot go on with ${file.name}: the file, the receiver or an option is not the one of the ` +
      `interrupted import; to begin anew, delete ${stateFile(file)}`,
  );
}

/** @throws CommandError */
export function writeProgress(file: ImportFile, offset: number): void {
  const state: ImportState = { identity: file.identity, offset };
  try {
    replaceTextFile(stateFile(file), `${JSON.stringify(state)}\n`, 0o644);
  } catch (error) {
    throw new CommandError(`cannot keep how far the import came (--resume): ${wordsOf(error)}`);
  }
}

export function dropProgress(file: ImportFile): void {
  rmSync(stateFile(file), { force: true });
}

function digest(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}

function wordsOf(error: unknown): string {
  return messageOf(error);
}
