/**
 * A consistent copy of the engine's data for a backup. Data parts are immutable, so the running
 * engine hard-links them (FREEZE), and the other files of each table are linked beside
 * them. Independent of the copy's destination and of the tables' schema.
 * https://clickhouse.com/docs/sql-reference/statements/alter/partition
 */
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasErrorCode, messageOf } from '../std/error-text.ts';
import { type Owner, pathsIn } from './data-directory.ts';

/** A file that does not change while it is held. */
export interface HeldPart {
  readonly source: string;
  /** Its path within a copy of the engine's directory, with slashes. */
  readonly path: string;
  readonly bytes: number;
}

export interface HoldOptions {
  /** Timeout of the wait for an engine that starts or stops. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Name of the backup in the engine's `shadow` folder. */
const holdName = 'weir_backup';
const retryMs = 250;
/** Timeout of one statement: it links files, and may wait for an insert. */
const statementMs = 120_000;

/** Files beside the parts of a table and in the folder of a database. */
const tableFile = /^(?:format_version|mutation_\d+)\.txt$|\.sql$/;
/** Removed some time after the mutation. */
const mutationFile = /^mutation_\d+\.txt$/;
/** Parts that are being written or removed, or are detached. */
const transientFolder = /^(?:tmp|delete_tmp|detached|moving)/;

/**
 * Holds all rows whose inserts were acknowledged, until `releaseStore`.
 * @param directory of the engine of a running service
 * @throws Error when the engine does not respond; the reason of the signal
 */
export async function holdStore(directory: string, options: HoldOptions): Promise<HeldPart[]> {
  const { store } = pathsIn(directory);
  const hold = join(store, 'shadow', holdName);
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    releaseStore(directory);
    mkdirSync(hold, { recursive: true });
    try {
      linkTableFiles(store, hold, mutationFile);
      await freezeTables(readSocketPath(directory), options.signal);
      // Definitions at least as new as the rows that tell which migrations were applied, and
      // mutations that began meanwhile.
      linkTableFiles(store, hold, tableFile);
      const files = filesBelow(hold, 'store/');
      return [...holdManifest(directory, hold), ...files];
    } catch (cause) {
      options.signal.throwIfAborted();
      if (cause instanceof EngineRefusal) throw cause;
      if (performance.now() > deadline) throw unreachableEngine(directory, cause);
    }
    await sleep(retryMs, undefined, { signal: options.signal });
  }
}

/**
 * The files of a stopped engine. Waits for a process that has not exited yet.
 * @throws Error when it does not exit
 */
export async function listStore(directory: string, options: HoldOptions): Promise<HeldPart[]> {
  const deadline = performance.now() + options.timeoutMs;
  while (await isResponding(directory)) {
    if (performance.now() > deadline) {
      throw new Error(`cannot copy ${directory}: an engine process still holds it; end it`);
    }
    await sleep(retryMs, undefined, { signal: options.signal });
  }
  const { store } = pathsIn(directory);
  return [
    ...manifestFile(directory),
    ...filesBelow(join(store, 'metadata'), 'store/metadata/'),
    ...filesBelow(join(store, 'store'), 'store/store/'),
  ];
}

/** Frees the disk space of a hold, also of one whose process was killed. */
export function releaseStore(directory: string): void {
  rmSync(join(pathsIn(directory).store, 'shadow', holdName), { recursive: true, force: true });
}

function unreachableEngine(directory: string, cause: unknown): Error {
  const reason = messageOf(cause);
  return new Error(
    `cannot reach the engine of the service on ${directory}: ${reason}; where a ClickHouse ` +
      'server is its store, give the settings of the service (--config, WEIR_STORE_URL)',
    { cause },
  );
}

/** The engine responded with an error, so a retry is useless. */
class EngineRefusal extends Error {
  override readonly name = 'EngineRefusal';
}

async function freezeTables(socketPath: string, signal: AbortSignal): Promise<void> {
  const listed = new Set<string>();
  // A table that a migration detaches or attaches meanwhile is in one of the lists.
  for (const sql of [tablesSql, detachedSql, tablesSql]) {
    const lines = await runStatement(socketPath, sql, signal);
    for (const line of lines.split('\n')) if (line !== '') listed.add(line);
  }
  // In order of name and between inserts, since the insert pool runs one statement at a time.
  for (const line of [...listed].sort()) {
    const table = (JSON.parse(line) as string[]).map(quote).join('.');
    await runStatement(socketPath, `ALTER TABLE ${table} FREEZE WITH NAME '${holdName}'`, signal);
  }
}

function quote(name: string): string {
  return `\`${name.replaceAll(/[\\`]/g, '\\$&')}\``;
}

const tablesSql = `SELECT database, name FROM system.tables
WHERE engine LIKE '%MergeTree' AND lower(database) NOT IN ('system', 'information_schema')
FORMAT JSONCompactEachRow`;

/** A migration detaches a table to replace its definition. */
const detachedSql = `SELECT database, table FROM system.detached_tables
WHERE NOT is_permanently
  AND database IN (SELECT name FROM system.databases WHERE engine = 'Atomic')
FORMAT JSONCompactEachRow`;

async function runStatement(socketPath: string, sql: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request({
    socketPath,
    method: 'POST',
    path: '/?wait_end_of_query=1',
    headers: { 'x-weir-pool': 'insert' },
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(statementMs)]),
  });
  sent.on('error', reject);
  sent.on('response', (response) => {
    readText(response).then((text) => {
      const message = `cannot hold the store's data: ${text.trim()}`;
      if (response.statusCode === 200) resolve(text);
      // It will be attached again, or was dropped.
      else if (text.includes('(UNKNOWN_TABLE)')) reject(new Error(message));
      else reject(new EngineRefusal(message));
    }, reject);
  });
  sent.end(sql);
  return promise;
}

/** @throws Error when no engine has opened the directory */
function readSocketPath(directory: string): string {
  const { owner, socket } = pathsIn(directory);
  const { socketPath } = JSON.parse(readFileSync(owner, 'utf8')) as Owner;
  return socketPath ?? socket;
}

async function isResponding(directory: string): Promise<boolean> {
  try {
    await runStatement(readSocketPath(directory), 'SELECT 1', AbortSignal.timeout(retryMs));
    return true;
  } catch (error) {
    const { name } = error as Error;
    return name === 'TimeoutError' || name === 'AbortError';
  }
}

function linkTableFiles(store: string, hold: string, wanted: RegExp): void {
  linkFiles(join(store, 'metadata'), join(hold, 'metadata'), wanted);
  for (const prefix of foldersIn(join(store, 'store'))) {
    for (const id of foldersIn(join(store, 'store', prefix))) {
      linkFiles(join(store, 'store', prefix, id), join(hold, 'store', prefix, id), wanted);
    }
  }
}

function linkFiles(from: string, to: string, wanted: RegExp): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!entry.isFile() || !wanted.test(entry.name)) continue;
    try {
      linkSync(join(from, entry.name), join(to, entry.name));
    } catch (error) {
      // A mutation that has finished, or a file that is linked already.
      if (!hasErrorCode(error, 'ENOENT', 'EEXIST')) throw error;
    }
  }
}

/** A newer engine replaces it when it starts. */
function holdManifest(directory: string, hold: string): HeldPart[] {
  return manifestFile(directory).map((file) => {
    const source = join(hold, file.path);
    linkSync(file.source, source);
    return { ...file, source, bytes: statSync(source).size };
  });
}

function manifestFile(directory: string): HeldPart[] {
  const source = pathsIn(directory).manifest;
  const stat = statSync(source, { throwIfNoEntry: false });
  return stat === undefined ? [] : [{ source, path: 'engine.json', bytes: stat.size }];
}

/** Not by a recursive `readdirSync`, which follows the links from metadata to databases. */
function filesBelow(folder: string, prefix: string): HeldPart[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const source = join(folder, entry.name);
    const path = prefix + entry.name;
    if (entry.isFile()) return [{ source, path, bytes: statSync(source).size }];
    const isKept = entry.isDirectory() && !transientFolder.test(entry.name);
    return isKept ? filesBelow(source, `${path}/`) : [];
  });
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
