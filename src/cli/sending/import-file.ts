/** Files of an import: their identity, their bytes, and the position of an earlier import. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, readFileSync, rmSync } from 'node:fs';
import { open as openHandle, realpath } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { replaceTextFile } from '../../files/atomic-file.ts';
import { hasErrorCode, messageOf } from '../../std/error-text.ts';
import { CommandError } from '../terminal.ts';

export interface ImportFile {
  readonly name: string;
  /** Size on disk. */
  readonly bytes: number;
  /** Equal for the same file, receiver and settings; unique for standard input. */
  readonly identity: string;
  readonly open: () => FileReading;
}

export interface FileReading {
  /** Decompressed. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Bytes read from disk. */
  readonly readBytes: () => number;
}

interface ImportState {
  readonly identity: string;
  readonly offset: number;
}

const headBytes = 64 * 1024;
const chunkBytes = 256 * 1024;
const gzipMark = Buffer.from([0x1f, 0x8b]);
const zstdMark = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** @param settings all options that affect the events. @throws CommandError */
export async function findFile(name: string, settings: string): Promise<ImportFile> {
  try {
    await using handle = await openHandle(name);
    const { size, mtimeNs } = await handle.stat({ bigint: true });
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const head = buffer.subarray(0, bytesRead);
    // Includes the path, since logs of two machines may begin alike.
    const facts = [await realpath(name), size, mtimeNs, digest(head), settings];
    const identity = digest(facts.join('\0'));
    return { name, bytes: Number(size), identity, open: () => openFile(name, head) };
  } catch (error) {
    throw new CommandError(`cannot read ${name}: ${messageOf(error)}`);
  }
}

export function standardInput(chunks: AsyncIterable<Uint8Array>): ImportFile {
  const reading = { chunks, readBytes: () => 0 };
  return { name: '-', bytes: 0, identity: randomUUID(), open: () => reading };
}

function openFile(name: string, head: Buffer): FileReading {
  const file = createReadStream(name, { highWaterMark: chunkBytes });
  const options = { chunkSize: chunkBytes };
  const startsWith = (mark: Buffer) => head.subarray(0, mark.length).equals(mark);
  const inflater = startsWith(gzipMark)
    ? createGunzip(options)
    : startsWith(zstdMark)
      ? createZstdDecompress(options)
      : undefined;
  // The callback is required; errors of the file reach the reader of the inflater.
  const chunks = inflater === undefined ? file : pipeline(file, inflater, () => {});
  return { chunks, readBytes: () => file.bytesRead };
}

/** Beside the file, with the same readers. */
function stateFile({ name }: ImportFile): string {
  return `${name}.weir-import`;
}

/**
 * @returns bytes that an earlier import settled, 0 without one.
 * @throws CommandError if it was of another file or had other settings
 */
export function readProgress(file: ImportFile): number {
  let state: Partial<ImportState>;
  try {
    state = JSON.parse(readFileSync(stateFile(file), 'utf8')) as Partial<ImportState>;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return 0;
    throw new CommandError(`cannot read ${stateFile(file)}: ${messageOf(error)}`);
  }
  if (state.identity === file.identity && typeof state.offset === 'number') return state.offset;
  throw new CommandError(
    `cannot resume ${file.name}: the file, the receiver or an option differs from the ` +
      `interrupted import; to start over, delete ${stateFile(file)}`,
  );
}

/** @throws CommandError */
export function writeProgress(file: ImportFile, offset: number): void {
  const state: ImportState = { identity: file.identity, offset };
  try {
    replaceTextFile(stateFile(file), `${JSON.stringify(state)}\n`, 0o644);
  } catch (error) {
    throw new CommandError(`cannot save the position (--resume): ${messageOf(error)}`);
  }
}

export function dropProgress(file: ImportFile): void {
  rmSync(stateFile(file), { force: true });
}

function digest(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}
