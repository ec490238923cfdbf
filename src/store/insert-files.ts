/**
 * Inserts, whose rows the embedded engine reads from files. Over its socket both processes would
 * copy them again, and the engine would write them to a file itself.
 */
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { isNoRoom } from '../files/disk-failure.ts';
import { StoreInsertError } from './port.ts';
import { fromFile, type InsertStatement } from './sql/statement.ts';

type Insert = (statement: InsertStatement, body: Iterable<Uint8Array>) => Promise<void>;

/** @param folder for files of an embedded engine; undefined = the rows are sent */
export function createInsert(client: ClickHouseClient, folder: string | undefined): Insert {
  const files = folder === undefined ? undefined : createInsertFiles(folder);
  return async (statement, body) => {
    const { sql, params, queryId } = statement;
    const file = await files?.write(body);
    const source =
      file === undefined
        ? { query: sql, values: Readable.from(body, { objectMode: false }) }
        : { query: fromFile(statement, file.path) };
    try {
      const { stream } = await client.exec({
        ...source,
        query_params: { ...params },
        ...(queryId === undefined ? {} : { query_id: queryId }),
      });
      await stream.toArray();
    } finally {
      await file?.remove();
    }
  };
}

interface InsertFile {
  readonly path: string;
  /** Does not fail: the next process empties the folder. */
  remove(): Promise<void>;
}

/** Joins small pieces to larger writes. */
const writeBytes = 2 ** 20;

/** @param folder absolute, for these files only; one left by an earlier process is emptied */
export function createInsertFiles(folder: string) {
  let emptied: Promise<unknown> | undefined;
  let count = 0;

  /** On a full disk the next insert tries again. */
  async function makeFolder(): Promise<void> {
    emptied ??= rm(folder, { recursive: true, force: true });
    try {
      await emptied;
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      emptied = undefined;
      throw error;
    }
  }

  return {
    /** @throws StoreInsertError `unavailable`, after which no file is left */
    async write(body: Iterable<Uint8Array>): Promise<InsertFile> {
      const path = join(folder, `${++count}.rows`);
      const remove = () => rm(path, { force: true }).catch(() => undefined);
      try {
        await makeFolder();
        await writeFile(path, body);
      } catch (cause) {
        await remove();
        const why = isNoRoom(cause) ? 'no space left' : 'the file cannot be written';
        throw new StoreInsertError('unavailable', `cannot insert: ${why}`, { cause });
      }
      return { path, remove };
    },
  };
}

async function writeFile(path: string, body: Iterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    let pieces: Uint8Array[] = [];
    let bytes = 0;
    const flush = async () => {
      const { bytesWritten } = await file.writev(pieces);
      // The error that cut it short is that of the next write.
      if (bytesWritten < bytes) await file.writeFile(Buffer.concat(pieces).subarray(bytesWritten));
      pieces = [];
      bytes = 0;
    };
    for (const piece of body) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes >= writeBytes) await flush();
    }
    if (bytes > 0) await flush();
  } finally {
    await file.close();
  }
}
