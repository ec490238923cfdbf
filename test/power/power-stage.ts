/**
 * A service on a disk whose power is cut: at random moments, and during merges, mutations, index
 * builds, drops of days and backups. After each cut the service starts on what reached the disk;
 * nothing synced may be broken.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../crash/stage.ts';
import type { Random } from '../harness/random.ts';
import { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { childrenOf, isAlive, startWeir } from '../harness/weir-process.ts';
import { createControlLedger } from './control-ledger.ts';
import { createCutDisk, type FileSystemName } from './cut-disk.ts';
import { runOnEngine } from './engine-sql.ts';

export interface PowerStage extends Stage {
  /** Problems besides lost and duplicated events, one sentence each. */
  readonly faults: readonly string[];
  /** Number of cuts by kind of moment. */
  readonly cuts: Readonly<Record<string, number>>;
}

export interface PowerStageOptions {
  readonly fileSystem: FileSystemName;
  /** Additional flags of `weir serve`. */
  readonly flags: readonly string[];
  /** False: replaced parts are removed at once, so that only the fsync of a merge protects them. */
  readonly hasOldPartsGrace: boolean;
}

const diskBytes = 4 * 2 ** 30;
/** Small segments, so that cuts hit segment boundaries. */
const smallSegments = ['--queue-segment-bytes', String(2 ** 20)];
const roomy = ['--queue-min-free-disk-bytes', String(16 * 2 ** 20)];
/** The engine is killed on purpose, so reads and inserts in flight fail. */
const provoked = [/engine ended/, /EngineStartError/, /housekeeping failed/];
const errorLevel = 50;

export async function openPowerStage(options: PowerStageOptions): Promise<PowerStage> {
  const disk = createCutDisk(options.fileSystem, diskBytes);
  // LazyFS has no sockets; a path this long makes the engine put its socket elsewhere.
  const ownFolder = options.fileSystem === 'lazyfs' ? 'data'.padEnd(90, '-') : 'data';
  const dataDir = join(disk.path, ownFolder);
  const service = new Service(dataDir, { flags: [...smallSegments, ...roomy, ...options.flags] });
  const control = createControlLedger(service);
  const faults: string[] = [];
  const cuts: Record<string, number> = {};
  let backups = 0;
  let backupToVerify: string | undefined;
  let isFirst = true;

  async function cut(): Promise<void> {
    const seen = service.process.logs.length;
    const children = childrenOf(service.process.pid);
    disk.cut([service.process.pid, ...children].filter((pid) => isAlive(pid)));
    await service.kill('SIGKILL');
    for (const pid of children) killIfAlive(pid);
    noteErrors(seen);
    await disk.powerOn();
  }

  function noteErrors(seen: number): void {
    for (const { level, raw } of service.process.logs.slice(0, seen)) {
      const isProvoked = provoked.some((pattern) => pattern.test(raw));
      if (level >= errorLevel && !isProvoked) faults.push(`logged: ${raw}`);
    }
  }

  async function start(): Promise<void> {
    await service.start();
    const detached = await runOnEngine(dataDir, detachedSql);
    if (detached !== '') faults.push(`detached parts after a start: ${detached.trim()}`);
    faults.push(...(await control.check()));
    if (options.hasOldPartsGrace) return;
    for (const table of ['logs', 'samples', 'series']) {
      const sql = `ALTER TABLE weir.${table} MODIFY SETTING old_parts_lifetime = 1`;
      await runOnEngine(dataDir, sql);
    }
  }

  async function replacedParts(): Promise<string[]> {
    return (await runOnEngine(dataDir, replacedPartsSql)).split('\n').filter((path) => path !== '');
  }

  async function untilRemoved(paths: readonly string[]): Promise<void> {
    const areRemoved = () => !paths.some((path) => existsSync(path));
    await until(areRemoved, { what: 'replaced parts to be removed', timeoutMs: 120_000 });
  }

  const moments: Readonly<Record<string, (random: Random) => Promise<void>>> = {
    async load(random) {
      await sleep(random.integer(0, 5_000));
    },
    async merge(random) {
      const merging = quietly(runOnEngine(dataDir, 'OPTIMIZE TABLE weir.logs FINAL'));
      await Promise.race([merging, sleep(random.integer(0, 1_500))]);
    },
    async merged(random) {
      for (const table of ['logs', 'samples', 'series']) {
        await runOnEngine(dataDir, `OPTIMIZE TABLE weir.${table} FINAL`);
      }
      if (!options.hasOldPartsGrace) await untilRemoved(await replacedParts());
      await sleep(random.integer(0, 2_000));
    },
    async mutation(random) {
      await seedScratch(dataDir);
      const sql = `ALTER TABLE weir.logs DELETE WHERE Body = 'scratch' SETTINGS mutations_sync = 1`;
      await Promise.race([quietly(runOnEngine(dataDir, sql)), sleep(random.integer(0, 1_500))]);
    },
    async index(random) {
      const indexes = ['message_fine', 'labels_fine'].map((name) => `MATERIALIZE INDEX ${name}`);
      const sql = `ALTER TABLE weir.logs ${indexes.join(', ')} SETTINGS mutations_sync = 1`;
      await Promise.race([quietly(runOnEngine(dataDir, sql)), sleep(random.integer(0, 2_000))]);
    },
    async retention(random) {
      await seedScratch(dataDir);
      // Housekeeping drops this day too, within ten seconds.
      const sql = `ALTER TABLE weir.logs DROP PARTITION ID '20200101'`;
      await Promise.race([quietly(runOnEngine(dataDir, sql)), sleep(random.integer(0, 1_500))]);
    },
    async backup(random) {
      const folder = join(disk.path, 'backups');
      mkdirSync(folder, { recursive: true });
      const target = join(folder, String(backups++));
      const backup = startWeir(['backup', target, '--data', dataDir]);
      const ended = await Promise.race([backup.exited, sleep(random.integer(0, 4_000))]);
      if (ended === undefined) backup.kill('SIGKILL');
      await backup.exited;
      if (ended?.code === 0) backupToVerify = target;
    },
    async engine(random) {
      await sleep(random.integer(0, 1_000));
      for (const pid of service.enginePids()) killIfAlive(pid);
      await sleep(random.integer(0, 2_000));
    },
    async control(random) {
      await control.change();
      await sleep(random.integer(0, 3));
    },
    async stop(random) {
      service.process.kill('SIGTERM');
      await sleep(random.integer(0, 500));
    },
    /** The cut happens while the service recovers from the previous one. */
    async start(random) {
      await cut();
      service.launch();
      await sleep(random.integer(0, 3_000));
    },
    /** Only the first cut of a directory is this early. */
    async first(random) {
      service.launch();
      await sleep(random.integer(0, 4_000));
    },
  };

  return {
    service,
    quickstartFile: join(dataDir, 'quickstart.json'),
    targets: Object.keys(moments).filter((name) => name !== 'first') as [string, ...string[]],
    faults,
    cuts,
    async strike(target, random) {
      const isNew = isFirst && random.next() < 0.5;
      if (isFirst && !isNew) await start();
      isFirst = false;
      const moment = isNew ? 'first' : target;
      await moments[moment]?.(random);
      await cut();
      cuts[moment] = (cuts[moment] ?? 0) + 1;
      await start();
      if (backupToVerify !== undefined) {
        const exit = await startWeir(['backup', '--verify', backupToVerify]).exited;
        if (exit.code !== 0) faults.push(`a finished backup is damaged after the cut`);
        backupToVerify = undefined;
      }
    },
    async ready() {
      await until(() => service.isReady(), { what: '/readyz after the last cut' });
    },
    async close() {
      const seen = service.process.logs.length;
      await service.kill('SIGTERM');
      noteErrors(seen);
      await disk.remove();
    },
  };
}

const detachedSql = `SELECT table, name, reason FROM system.detached_parts FORMAT TSV`;
const replacedPartsSql = `SELECT path FROM system.parts
WHERE database = 'weir' AND NOT active AND table IN ('logs', 'samples', 'series')`;

/** Rows of a day long past that no account reads. */
async function seedScratch(dataDir: string): Promise<void> {
  const sql = `INSERT INTO weir.logs (Timestamp, Body, AccountId, StreamId, ReceivedAt)
SELECT toDateTime64('2020-01-01 12:00:00', 9, 'UTC') AS at, 'scratch', '', '', at
FROM numbers(50000)`;
  await runOnEngine(dataDir, sql);
}

/** The statement may end with the engine; the next start shows the state of the store. */
function quietly(running: Promise<unknown>): Promise<unknown> {
  return running.catch(() => undefined);
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
