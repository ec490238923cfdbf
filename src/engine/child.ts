/**
 * The engine process: owns chDB and serves the ClickHouse HTTP protocol on a Unix socket. Started by the supervisor with
 * a `ChildStart` as its argument; knows nothing of Weir's tables, tokens or configuration.
 */
import { chmodSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { basename, dirname, extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { ChildMessage, ChildStart, Owner } from './child-protocol.ts';
import { type Member, openMember } from './member.ts';
import { createPool, type Pool } from './pool.ts';
import { createQueryServer } from './query-server.ts';
import {
  type PoolName,
  serverSettings,
  sessionSettings,
  tableDefaults,
  toConfigXml,
} from './settings.ts';
import { openSpool } from './spool.ts';
import { verifySettings } from './verify-settings.ts';

/** Not `config.xml`, which chDB would read by itself. */
const configFile = 'engine-settings.xml';
/** Kills and probes come from us alone; more of them waiting means that chDB hangs. */
const maxWaitingControls = 1_000;

const start = JSON.parse(process.argv[2] ?? '{}') as ChildStart;
const never = new AbortController().signal;

interface Members {
  readonly insert: readonly Member[];
  readonly read: readonly Member[];
  readonly housekeeping: readonly Member[];
  readonly control: readonly Member[];
}

try {
  await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  say({ kind: 'failed', message }, () => exit(1));
}

async function main(): Promise<void> {
  watchParent();
  writeFileSync(configFile, toConfigXml(serverSettings(start.settings), tableDefaults));
  const members = await openMembers();
  // From here on chDB's lock on the store says that this process is the only one.
  const clickhouseVersion = await verify(members);
  claim();
  const control = createPool('control', members.control, maxWaitingControls);
  const pools = createPools(members);
  const server = createQueryServer({
    pools,
    spool: await openSpool(start.settings.maxInsertBytes),
    killQuery(mark) {
      // SYNC would wait for ever: the entry of a killed query stays until its session runs another.
      ask(control, `KILL QUERY WHERE startsWith(query, '${mark}') ASYNC`).catch((error: Error) => {
        console.error(`cannot kill a query whose client left: ${error.message}`);
      });
    },
    async probe() {
      await ask(control, 'SELECT 1');
    },
  });
  process.once('SIGTERM', () => void stop(server, pools, control));
  await listen(server);
  say({ kind: 'ready', clickhouseVersion });

  async function stop(
    serving: Server,
    open: Readonly<Record<PoolName, Pool<Member>>>,
    controls: Pool<Member>,
  ): Promise<void> {
    serving.close();
    const isQuiet = await drained(open, controls);
    // A session closed under a running query brings the process down with a fault.
    if (!isQuiet) process.kill(process.pid, 'SIGKILL');
    for (const member of Object.values(members).flat()) member.close();
    rmSync(start.socketPath, { force: true });
    exit(0);
  }
}

/** Two ways, because the channel's end is seen at once but only by a main thread that is not stuck. */
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
    control: await open('housekeeping', 1),
    insert: await open('insert', 1),
    read: await open('read', start.settings.readMembers),
    housekeeping: await open('housekeeping', 1),
  };
}

function createPools(members: Members): Readonly<Record<PoolName, Pool<Member>>> {
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
  for (const pool of ['insert', 'read', 'housekeeping'] as const) {
    const wanted = sessionSettings(pool, start.settings);
    for (const member of members[pool]) await verifySettings(member, 'settings', wanted);
  }
  const { bytes } = await control.query('SELECT version()', 'TabSeparated');
  return Buffer.from(bytes).toString().trim();
}

/** Names this process as the owner and removes what earlier ones left. */
function claim(): void {
  const owner: Owner = { weirPid: start.parentPid, enginePid: process.pid };
  writeFileSync(`${start.ownerPath}.new`, JSON.stringify(owner));
  renameSync(`${start.ownerPath}.new`, start.ownerPath);
  const folder = dirname(start.runPrefix);
  for (const name of readdirSync(folder)) {
    const isRun = name.startsWith(basename(start.runPrefix)) && name !== basename(process.cwd());
    if (isRun) rmSync(join(folder, name), { recursive: true, force: true });
  }
  rmSync(start.socketPath, { force: true });
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(start.socketPath, resolve);
  });
  chmodSync(start.socketPath, 0o600);
}

async function ask(control: Pool<Member>, sql: string): Promise<void> {
  const member = await control.acquire(never);
  try {
    await member.query(sql, 'TabSeparated');
  } finally {
    control.release(member);
  }
}

/** Lets queries end in time, then kills the rest; false when some do not even end then. */
async function drained(
  pools: Readonly<Record<PoolName, Pool<Member>>>,
  control: Pool<Member>,
): Promise<boolean> {
  const quiet = Promise.all(Object.values(pools).map((pool) => pool.close())).then(() => true);
  const late = (millis: number) => delay(millis, false);
  if (await Promise.race([quiet, late(start.settings.stopMillis)])) return true;
  await ask(control, "KILL QUERY WHERE query NOT LIKE 'KILL%' ASYNC").catch(() => undefined);
  return Promise.race([quiet, late(start.settings.stopMillis)]);
}

function say(message: ChildMessage, then?: () => void): void {
  process.send?.(message, () => then?.());
}

/** `process.exit` would run exit handlers of chDB on sessions that are closed already. */
function exit(code: number): never {
  return (process as unknown as { reallyExit(code: number): never }).reallyExit(code);
}
