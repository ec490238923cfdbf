/**
 * A copy of the engine's data as they are at one moment, made beside the engine that changes them.
 * Data parts never change once they are written, so the engine is asked to hold them by hard links
 * (FREEZE); what else belongs to a table is linked beside them. It knows nothing of where the copy
 * goes, nor of the tables' meaning.
 * https://clickhouse.com/docs/sql-reference/statements/alter/partition
 */
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from './child-protocol.ts';
import { messageOf } from '../std/error-text.ts';

/** A file that no longer changes. */
export interface HeldPart {
  /** Where to read it. */
  readonly source: string;
  /** Where it belongs in a copy, from the engine's directory on, with slashes. */
  readonly path: string;
  readonly bytes: number;
}

export interface HoldOptions {
  /** For how long an engine that is away is waited for; it may just be starting. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/** The name of the hold within the engine's `shadow` folder. */
const holdName = 'weir_backup';
const retryMs = 250;
/** Of one statement; it links files, and may wait for an insert that came before. */
const statementMs = 120_000;

/** What lies beside the parts in a table's folder, and in that of a database. */
const tableFile = /^(?:format_version|mutation_\d+)\.txt$|\.sql$/;
/** Parts that are being written, removed, or set aside. */
const passingFolder = /^(?:tmp|delete_tmp|detached|moving)/;

/**
 * Holds all rows whose inserts have been answered by now. To be let go of with `letGoOfStore`.
 * @param directory of the engine, which a service has open.
 * @throws Error where the engine stays away; the reason of the signal
 */
export async function holdStore(directory: string, options: HoldOptions): Promise<HeldPart[]> {
  const store = join(directory, 'store');
  const hold = join(store, 'shadow', holdName);
  const deadline = performance.now() + options.patienceMs;
  for (;;) {
    letGoOfStore(directory);
    mkdirSync(hold, { recursive: true });
    try {
      linkTableFiles(store, hold);
      await freezeTables(readSocketPath(directory), options.signal);
      // Once more, for deletions that began in between.
      linkTableFiles(store, hold);
      return [...rootFiles(directory), ...filesBelow(hold, 'store/')];
    } catch (cause) {
      options.signal.throwIfAborted();
      if (cause instanceof EngineRefusal) throw cause;
      if (performance.now() > deadline) throw noAnswer(directory, cause);
    }
    await sleep(retryMs, undefined, { signal: options.signal });
  }
}

/**
 * The same of an engine that is stopped. An engine that outlives its service by a moment is waited
 * for.
 * @throws Error where it does not end
 */
export async function listStore(directory: string, options: HoldOptions): Promise<HeldPart[]> {
  const deadline = performance.now() + options.patienceMs;
  while (await isAnswering(directory)) {
    if (performance.now() > deadline) {
      throw new Error(`cannot copy ${directory}: an engine process still holds it; end it`);
    }
    await sleep(retryMs, undefined, { signal: options.signal });
  }
  const store = join(directory, 'store');
  return [
    ...rootFiles(directory),
    ...filesBelow(join(store, 'metadata'), 'store/metadata/'),
    ...filesBelow(join(store, 'store'), 'store/store/'),
  ];
}

/** Frees what a hold, of this process or one that was killed, keeps on disk. */
export function letGoOfStore(directory: string): void {
  rmSync(join(directory, 'store', 'shadow', holdName), { recursive: true, force: true });
}

function noAnswer(directory: string, cause: unknown): Error {
  const reason = messageOf(cause);
  return new Error(
    `cannot reach the engine of the service on ${directory}: ${reason}; where a ClickHouse ` +
      'server is its store, give the settings of the service (--config, WEIR_STORE_URL)',
    { cause },
  );
}

/** The engine has answered, and will not do it. */
class EngineRefusal extends Error {
  override readonly name = 'EngineRefusal';
}

async function freezeTables(socketPath: string, signal: AbortSignal): Promise<void> {
  const listed = await ask(socketPath, tablesSql, signal);
  // In the order of their names, one by one, between inserts: the pool of inserts runs one at a
  // time.
  for (const line of listed.split('\n').filter((each) => each !== '')) {
    const table = (JSON.parse(line) as string[]).map(quote).join('.');
    await ask(socketPath, `ALTER TABLE ${table} FREEZE WITH NAME '${holdName}'`, signal);
  }
}

function quote(name: string): string {
  return `\`${name.replaceAll(/[\\`]/g, '\\$&')}\``;
}

const tablesSql = `SELECT database, name FROM system.tables
WHERE engine LIKE '%MergeTree' AND lower(database) NOT IN ('system', 'information_schema')
ORDER BY database, name FORMAT JSONCompactEachRow`;

async function ask(socketPath: string, sql: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const patience = AbortSignal.any([signal, AbortSignal.timeout(statementMs)]);
  const sent = request({
    socketPath,
    method: 'POST',
    path: '/?wait_end_of_query=1',
    headers: { 'x-weir-pool': 'insert' },
    agent: false,
    signal: patience,
  });
  sent.on('error', reject);
  sent.on('response', (response) => {
    readText(response).then((text) => {
      if (response.statusCode === 200) resolve(text);
      else reject(new EngineRefusal(`cannot hold the store's data: ${text.trim()}`));
    }, reject);
  });
  sent.end(sql);
  return promise;
}

/** @throws Error where no engine has been here, or it has not said where it answers. */
function readSocketPath(directory: string): string {
  const { socketPath } = JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8')) as Owner;
  return socketPath ?? join(directory, 'engine.sock');
}

async function isAnswering(directory: string): Promise<boolean> {
  try {
    await ask(readSocketPath(directory), 'SELECT 1', AbortSignal.timeout(retryMs));
    return true;
  } catch (error) {
    const { name } = error as Error;
    return name === 'TimeoutError' || name === 'AbortError';
  }
}

/** Links what is not there yet. */
function linkTableFiles(store: string, hold: string): void {
  tryLink(join(store, 'metadata'), join(hold, 'metadata'));
  for (const prefix of foldersIn(join(store, 'store'))) {
    for (const id of foldersIn(join(store, 'store', prefix))) {
      tryLink(join(store, 'store', prefix, id), join(hold, 'store', prefix, id));
    }
  }
}

function tryLink(from: string, to: string): void {
  const names = plainFilesIn(from).filter((name) => tableFile.test(name));
  mkdirSync(to, { recursive: true });
  for (const name of names) {
    try {
      linkSync(join(from, name), join(to, name));
    } catch (error) {
      // A deletion that is done, or one that was linked before.
      if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

function rootFiles(directory: string): HeldPart[] {
  const source = join(directory, 'engine.json');
  const stat = statSync(source, { throwIfNoEntry: false });
  return stat === undefined ? [] : [{ source, path: 'engine.json', bytes: stat.size }];
}

function filesBelow(folder: string, prefix: string): HeldPart[] {
  const files = plainFilesIn(folder).map((name) => {
    const source = join(folder, name);
    return { source, path: `${prefix}${name}`, bytes: statSync(source).size };
  });
  const folders = foldersIn(folder).filter((name) => !passingFolder.test(name));
  return [
    ...files,
    ...folders.flatMap((name) => filesBelow(join(folder, name), `${prefix}${name}/`)),
  ];
}

function plainFilesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
