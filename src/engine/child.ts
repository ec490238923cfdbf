/**
 * The engine process: owns chDB and serves the ClickHouse HTTP protocol on a Unix socket. Knows
 * nothing of Weir's tables, tokens or configuration.
 */
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { openChannel } from '../channel/channel.ts';
import { overIpc } from '../channel/transports.ts';
import { isNoRoom } from '../files/disk-failure.ts';
import { replaceTextFile } from '../files/atomic-file.ts';
import { optimiseSooner } from '../std/runtime-flags.ts';
import { type Owner, pathsIn } from './data-directory.ts';
import type {
  EngineMethods,
  EngineStart,
  StartedEngine,
  SupervisorMethods,
} from './engine-process.ts';
import {
  countFailedWrites,
  createWriteWatch,
  FailedWrite,
  markCleanWrites,
  markFailedWrites,
  verifyFailedWritesAreCounted,
  readCount,
  removeTruncatedParts,
  removeEmptyMutations,
  type WriteWatch,
} from './failed-writes.ts';
import { type Control, createRunningQueries } from './kill-query.ts';
import { type Member, openMember, verifySettings } from './member.ts';
import type { EngineSettings } from './options.ts';
import { createPool, type Pool } from './pool.ts';
import { createQueryServer } from './query-server.ts';
import {
  type PoolName,
  poolNames,
  serverSettings,
  sessionSettings,
  tableDefaults,
  toConfigXml,
} from './settings.ts';
import { openSpool } from './spool.ts';

/** Not `config.xml`, which chDB would read by itself. */
const configFile = 'engine-settings.xml';
/** Only the engine itself uses the control pool; a longer queue means that chDB hangs. */
const maxWaitingControls = 1_000;
/** Much shorter than the minute for which a merge keeps its sources. */
const writeCheckMillis = 1_000;
/** Time for a failure report to reach the parent. */
const reportMillis = 1_000;
/** The account of the engine's own queries. */
const ownAccount = '';
/** Accounts take turns, so that a heartbeat waits for one of the others at most. */
const heartbeatAccount = 'heartbeat';

type Members = Readonly<Record<PoolName, readonly Member[]>>;
type Pools = Readonly<Record<PoolName, Pool<Member>>>;

interface Running {
  readonly server: Server;
  readonly pools: Pools;
  readonly members: Members;
  readonly writes: WriteWatch;
}

const startedAtMs = Date.now();
optimiseSooner();
const parent = openChannel<EngineMethods, SupervisorMethods>(overIpc(process), {
  async start(options) {
    try {
      return await open(options);
    } catch (error) {
      const { dataDir } = options;
      if (error instanceof FailedWrite) {
        ignoringFullDisk(() => markFailedWrites(dataDir, startedAtMs));
      }
      throw error;
    }
  },
});
void parent.closed.then(() => process.kill(process.pid, 'SIGKILL'));

async function open(options: EngineStart): Promise<StartedEngine> {
  const { settings, dataDir, socketPath } = options;
  const { store } = pathsIn(dataDir);
  watchParent(options.parentPid);
  writeFileSync(configFile, toConfigXml(serverSettings(settings), tableDefaults));
  removeEmptyMutations(store);
  const members = await openMembers(store, settings);
  // From here on chDB holds the lock of the store, so no other engine process runs.
  const clickhouseVersion = await verify(members, settings);
  const baseline = await verifyFailedWritesAreCounted(members.control[0]!);
  claim(options);
  const truncatedParts = removeTruncatedParts(dataDir, store);
  ignoringFullDisk(() => markCleanWrites(dataDir, Date.now()));
  const pools = createPools(members, settings);
  const writes = watchWrites(pools.control, dataDir, baseline);
  const server = createQueryServer({
    pools,
    spool: await openSpool(settings.maxInsertBytes),
    running: createRunningQueries((marks) =>
      kill(pools.control, marks.map((mark) => `startsWith(query, '${mark}')`).join(' OR ')),
    ),
    control: (...query) => queryControl(pools.control, ownAccount, ...query),
    probe: async () => {
      await queryControl(pools.control, heartbeatAccount, 'SELECT 1', 'TabSeparated');
    },
    writes,
    storePath: store,
  });
  process.once('SIGTERM', () => void stop({ server, pools, members, writes }, options));
  await listen(server, socketPath);
  return { clickhouseVersion, truncatedParts };
}

/**
 * A thread that ends the process when its parent is gone, also while the main thread is stuck in
 * native code and does not see that the channel has closed.
 */
function watchParent(parentPid: number): void {
  const code = `const { workerData } = require('node:worker_threads');
    setInterval(() => {
      if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL');
    }, 250);`;
  new Worker(code, { eval: true, workerData: parentPid });
}

async function openMembers(storePath: string, settings: EngineSettings): Promise<Members> {
  const openPool = async (pool: PoolName, count: number) => {
    const defaults = sessionSettings(pool, settings);
    const members: Member[] = [];
    for (let index = 0; index < count; index++) {
      members.push(await openMember(storePath, defaults, [`--config-file=${configFile}`]));
    }
    return members;
  };
  return {
    control: await openPool('control', 1),
    insert: await openPool('insert', 1),
    read: await openPool('read', settings.readMembers),
    brief: await openPool('brief', settings.briefMembers),
    housekeeping: await openPool('housekeeping', 1),
  };
}

function createPools(members: Members, { maxWaitingQueries }: EngineSettings): Pools {
  const create = (name: PoolName, maxWaiting: number) =>
    createPool(name, members[name], maxWaiting);
  return {
    control: create('control', maxWaitingControls),
    insert: create('insert', maxWaitingQueries),
    read: create('read', maxWaitingQueries),
    brief: create('brief', maxWaitingQueries),
    housekeeping: create('housekeeping', maxWaitingQueries),
  };
}

/** @returns the version of ClickHouse */
async function verify(members: Members, settings: EngineSettings): Promise<string> {
  const [control] = members.control as [Member];
  await verifySettings(control, 'server_settings', serverSettings(settings));
  await verifySettings(control, 'merge_tree_settings', tableDefaults);
  for (const pool of poolNames) {
    const wanted = sessionSettings(pool, settings);
    for (const member of members[pool]) await verifySettings(member, 'settings', wanted);
  }
  const { bytes } = await control.query('SELECT version()', 'TabSeparated');
  return Buffer.from(bytes).toString().trim();
}

/** Writes the owner file and removes files of earlier processes. */
function claim({ dataDir, parentPid: weirPid, socketPath }: EngineStart): void {
  const paths = pathsIn(dataDir);
  const owner: Owner = { weirPid, enginePid: process.pid, socketPath };
  ignoringFullDisk(() => replaceTextFile(paths.owner, JSON.stringify(owner)));
  const folder = dirname(paths.runPrefix);
  for (const name of readdirSync(folder)) {
    const isRun = name.startsWith(basename(paths.runPrefix)) && name !== basename(process.cwd());
    if (isRun) rmSync(join(folder, name), { recursive: true, force: true });
  }
  rmSync(socketPath, { force: true });
}

/** Files written at a start are informative, and reads need no free space. */
function ignoringFullDisk(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!isNoRoom(error)) throw error;
  }
}

/** Kills the process after a failed write: chDB's state in memory differs from that on disk. */
function watchWrites(control: Pool<Member>, dataDir: string, baseline: number): WriteWatch {
  const watch = createWriteWatch({
    count: async () => {
      const counted = await queryControl(control, ownAccount, countFailedWrites, 'TabSeparated');
      return readCount(counted);
    },
    baseline,
    failed(cleanAtMs) {
      let { message } = new FailedWrite();
      try {
        markFailedWrites(dataDir, cleanAtMs);
      } catch (error) {
        message += `; cannot mark the data directory: ${String(error)}`;
      }
      void Promise.race([parent.remote.failed(message), delay(reportMillis)]).finally(() =>
        process.kill(process.pid, 'SIGKILL'),
      );
    },
    now: Date.now,
  });
  // The queries that check get the same error, such as while the pool closes.
  setInterval(() => void watch.check().catch(() => undefined), writeCheckMillis).unref();
  return watch;
}

async function listen(server: Server, socketPath: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  chmodSync(socketPath, 0o600);
}

async function queryControl(
  control: Pool<Member>,
  account: string,
  ...[sql, format, parameters = new Map()]: Parameters<Control>
): Promise<Uint8Array> {
  const member = await control.acquire(account, new AbortController().signal);
  try {
    await member.configure({ settings: new Map(), parameters, database: 'default' });
    return (await member.query(sql, format)).bytes;
  } finally {
    control.release(member);
  }
}

/** ASYNC: chDB lists a killed query until its session runs another, so SYNC would never end. */
async function kill(control: Pool<Member>, condition: string): Promise<void> {
  try {
    await queryControl(control, ownAccount, `KILL QUERY WHERE ${condition} ASYNC`, 'TabSeparated');
  } catch (error) {
    process.stderr.write(`cannot kill a query: ${String(error)}\n`);
  }
}

async function stop({ server, pools, members, writes }: Running, options: EngineStart) {
  server.close();
  // Closing a session under a running query would crash the process.
  if (!(await drained(pools, options.settings))) process.kill(process.pid, 'SIGKILL');
  // The write of a merge may have failed; the next start then removes its part.
  await writes.check();
  await pools.control.close();
  for (const member of Object.values(members).flat()) member.close();
  rmSync(options.socketPath, { force: true });
  // `process.exit` would run exit handlers of chDB on the closed sessions.
  (process as unknown as { reallyExit(code: number): never }).reallyExit(0);
}

/** Waits for running queries, then kills them; false when some still do not end. */
async function drained(pools: Pools, { stopMillis }: EngineSettings): Promise<boolean> {
  const { control, ...others } = pools;
  const idle = Promise.all(Object.values(others).map((pool) => pool.close())).then(() => true);
  const timeout = () => delay(stopMillis, false);
  if (await Promise.race([idle, timeout()])) return true;
  await kill(control, "query NOT LIKE 'KILL%'");
  return Promise.race([idle, timeout()]);
}
