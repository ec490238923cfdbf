/**
 * The engine process: owns chDB and serves the ClickHouse HTTP protocol on a Unix socket. Started
 * by the supervisor with a `ChildStart` as its argument; knows nothing of Weir's tables, tokens or
 * configuration.
 */
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { basename, dirname, extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { isNoRoom } from '../files/disk-failure.ts';
import { replaceTextFile } from '../files/whole-file.ts';
import type { ChildMessage, ChildStart, Owner } from './child-protocol.ts';
import {
  failedWritesSince,
  markCleanWrites,
  markFailedWrites,
  removeCutParts,
  removeEmptyMutations,
} from './cut-files.ts';
import type { Control } from './kill-query.ts';
import { type Member, openMember, verifySettings } from './member.ts';
import { createPool, type Pool } from './pool.ts';
import { createQueryServer } from './query-server.ts';
import { createRunningQueries } from './running-queries.ts';
import {
  type PoolName,
  serverSettings,
  sessionSettings,
  tableDefaults,
  toConfigXml,
} from './settings.ts';
import { openSpool } from './spool.ts';
import {
  countFailedWrites,
  createWriteWatch,
  FailedWrite,
  proveWritesAreCounted,
  readCount,
  type WriteWatch,
} from './write-watch.ts';
import { messageOf } from '../std/error-text.ts';

/** Not `config.xml`, which chDB would read by itself. */
const configFile = 'engine-settings.xml';
/** Kills and probes come from us alone; more of them waiting means that chDB hangs. */
const maxWaitingControls = 1_000;
/** Far below the minute for which a merge keeps its sources. */
const writeCheckMillis = 1_000;

const start = JSON.parse(process.argv[2] ?? '{}') as ChildStart;
const startedAtMs = Date.now();
const dataDir = dirname(start.ownerPath);
const never = new AbortController().signal;
/** What the engine does is done for no account. */
const ownAccount = '';

interface Members {
  readonly insert: readonly Member[];
  readonly read: readonly Member[];
  readonly housekeeping: readonly Member[];
  readonly control: readonly Member[];
}

type Pools = Readonly<Record<Exclude<PoolName, 'control'>, Pool<Member>>>;

/** All that has to be at rest before the process may end. */
interface Running {
  readonly server: Server;
  readonly pools: Pools;
  readonly control: Pool<Member>;
  readonly members: Members;
  readonly writes: WriteWatch;
}

try {
  await main();
} catch (error) {
  if (error instanceof FailedWrite) {
    toleratingFullDisk(() => markFailedWrites(dataDir, startedAtMs));
  }
  const message = messageOf(error);
  say({ kind: 'failed', message }, () => exit(1));
}

async function main(): Promise<void> {
  watchParent();
  writeFileSync(configFile, toConfigXml(serverSettings(start.settings), tableDefaults));
  removeEmptyMutations(start.storePath);
  const members = await openMembers();
  // From here on chDB's lock on the store says that this process is the only one.
  const clickhouseVersion = await verify(members);
  const baseline = await proveWritesAreCounted(members.control[0]!);
  claim();
  const cutParts = settleFailedWrites();
  const control = createPool('control', members.control, maxWaitingControls);
  const pools = createPools(members);
  const writes = watchWrites(control, baseline);
  const spool = await openSpool(start.settings.maxInsertBytes);
  const server = createQueryServer({
    pools: { ...pools, control },
    spool,
    running: createRunningQueries((mark) => void kill(control, `startsWith(query, '${mark}')`)),
    control: (...query) => ask(control, ...query),
    probe: async () => void (await ask(control, 'SELECT 1', 'TabSeparated')),
    writes,
    storePath: start.storePath,
  });
  process.once('SIGTERM', () => void stop({ server, pools, control, members, writes }));
  await listen(server);
  say({ kind: 'ready', clickhouseVersion, cutParts });
}

/** The paths of parts that a failed write had cut short, which are gone now. */
function settleFailedWrites(): string[] {
  const sinceMs = failedWritesSince(dataDir);
  const cut = sinceMs === undefined ? [] : removeCutParts(start.storePath, sinceMs);
  toleratingFullDisk(() => markCleanWrites(dataDir, Date.now()));
  return cut;
}

/** Ends the process at a write that failed: what chDB holds in memory is not what is on disk. */
function watchWrites(control: Pool<Member>, baseline: number): WriteWatch {
  const watch = createWriteWatch({
    count: async () => readCount(await ask(control, countFailedWrites, 'TabSeparated')),
    baseline,
    failed(cleanAtMs) {
      let { message } = new FailedWrite();
      try {
        markFailedWrites(dataDir, cleanAtMs);
      } catch (error) {
        message += `, and the mark of it: ${String(error)}`;
      }
      say({ kind: 'failed', message }, () => process.kill(process.pid, 'SIGKILL'));
    },
    now: Date.now,
  });
  // A control that fails, as at a stop, is told to those who wait for it.
  setInterval(() => void watch.check().catch(() => undefined), writeCheckMillis).unref();
  return watch;
}

/**
 * Two ways, because the channel's end is seen at once but only by a main thread that is not stuck.
 */
function watchParent(): void {
  const file = new URL(`./orphan-watch${extname(import.meta.url)}`, import.meta.url);
  new Worker(file, { workerData: start.parentPid });
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}

async function openMembers(): Promise<Members> {
  const open = async (pool: PoolName, count: number) => {
    const defaults = sessionSettings(pool, start.settings);
    const opened: Member[] = [];
    for (let index = 0; index < count; index++) {
      opened.push(await openMember(start.storePath, defaults, [`--config-file=${configFile}`]));
    }
    return opened;
  };
  return {
    control: await open('control', 1),
    insert: await open('insert', 1),
    read: await open('read', start.settings.readMembers),
    housekeeping: await open('housekeeping', 1),
  };
}

function createPools(members: Members): Pools {
  const { maxWaitingQueries } = start.settings;
  return {
    insert: createPool('insert', members.insert, maxWaitingQueries),
    read: createPool('read', members.read, maxWaitingQueries),
    housekeeping: createPool('housekeeping', members.housekeeping, maxWaitingQueries),
  };
}

/** The version of ClickHouse, once everything is as set. */
async function verify(members: Members): Promise<string> {
  const [control] = members.control as [Member];
  await verifySettings(control, 'server_settings', serverSettings(start.settings));
  await verifySettings(control, 'merge_tree_settings', tableDefaults);
  for (const pool of ['insert', 'read', 'housekeeping', 'control'] as const) {
    const wanted = sessionSettings(pool, start.settings);
    for (const member of members[pool]) await verifySettings(member, 'settings', wanted);
  }
  const { bytes } = await control.query('SELECT version()', 'TabSeparated');
  return Buffer.from(bytes).toString().trim();
}

/** Names this process as the owner and removes what earlier ones left. */
function claim(): void {
  const { parentPid: weirPid, socketPath } = start;
  const owner: Owner = { weirPid, enginePid: process.pid, socketPath };
  toleratingFullDisk(() => replaceTextFile(start.ownerPath, JSON.stringify(owner)));
  const folder = dirname(start.runPrefix);
  for (const name of readdirSync(folder)) {
    const isRun = name.startsWith(basename(start.runPrefix)) && name !== basename(process.cwd());
    if (isRun) rmSync(join(folder, name), { recursive: true, force: true });
  }
  rmSync(start.socketPath, { force: true });
}

/** What is written at a start is for words alone, and reads need no room. */
function toleratingFullDisk(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isNoRoom(error)) throw error;
  }
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(start.socketPath, resolve);
  });
  chmodSync(start.socketPath, 0o600);
}

async function ask(
  control: Pool<Member>,
  ...[sql, format, parameters = new Map()]: Parameters<Control>
): Promise<Uint8Array> {
  const member = await control.acquire(ownAccount, never);
  try {
    await member.configure({ settings: new Map(), parameters, database: 'default' });
    return (await member.query(sql, format)).bytes;
  } finally {
    control.release(member);
  }
}

/** SYNC would wait for ever: the entry of a killed query stays until its session runs another. */
async function kill(control: Pool<Member>, condition: string): Promise<void> {
  try {
    await ask(control, `KILL QUERY WHERE ${condition} ASYNC`, 'TabSeparated');
  } catch (error) {
    process.stderr.write(`cannot kill a query: ${String(error)}\n`);
  }
}

async function stop({ server, pools, control, members, writes }: Running): Promise<void> {
  server.close();
  // A session closed under a running query would bring the process down with a fault.
  if (!(await drained(pools, control))) process.kill(process.pid, 'SIGKILL');
  // A merge that was cut short is found at the next start.
  await writes.check();
  await control.close();
  for (const pool of Object.values(members) as readonly (readonly Member[])[]) {
    for (const member of pool) member.close();
  }
  rmSync(start.socketPath, { force: true });
  exit(0);
}

/** Lets queries end in time, then kills the rest; false when some do not even end then. */
async function drained(pools: Pools, control: Pool<Member>): Promise<boolean> {
  const quiet = Promise.all(Object.values(pools).map((pool) => pool.close())).then(() => true);
  const late = () => delay(start.settings.stopMillis, false);
  if (await Promise.race([quiet, late()])) return true;
  await kill(control, "query NOT LIKE 'KILL%'");
  return Promise.race([quiet, late()]);
}

function say(message: ChildMessage, then?: () => void): void {
  process.send?.(message, () => then?.());
}

/** `process.exit` would run exit handlers of chDB on sessions that are closed already. */
function exit(code: number): never {
  return (process as unknown as { reallyExit(code: number): never }).reallyExit(code);
}
