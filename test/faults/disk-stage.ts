/**
 * A service with separate small disks for data directory, queue and store, which fill up or fail
 * while senders run. The ledgers show losses and duplicates; this module records what the service
 * reported.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../crash/stage.ts';
import { sendPlain } from '../harness/http.ts';
import type { Random } from '../harness/random.ts';
import { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { childrenOf, isAlive } from '../harness/weir-process.ts';
import { type CutDisk, createCutDisk } from '../power/cut-disk.ts';
import { runOnEngine } from '../power/engine-sql.ts';

/** The observations of one fault. */
export interface Observation {
  readonly fault: string;
  /** Responses during the fault: /readyz, a list, creation of a token. */
  readonly answers: string;
  /** New log messages of level warn or above. */
  readonly said: readonly string[];
  /** `recovered by itself`, `ended with code N`, or the action that was necessary. */
  readonly ending: string;
}

export interface DiskStage extends Stage {
  readonly observations: readonly Observation[];
}

type DiskName = 'data' | 'queue' | 'engine';

const diskBytes = 1024 * 2 ** 20;
const fullMs = 6_000;
const flickers = 12;
const byItself = 'recovered by itself';
const warnLevel = 40;
const diskFailedExitCode = 74;
const flags = ['--queue-min-free-disk-bytes', '0', '--queue-segment-bytes', String(2 ** 20)];

/** @param match only faults whose name contains it */
export async function openDiskStage(match: string): Promise<DiskStage> {
  const data = createCutDisk('ext4', diskBytes);
  const dataDir = join(data.path, 'data');
  const disks: Readonly<Record<DiskName, CutDisk>> = {
    data,
    queue: createCutDisk('ext4', diskBytes, join(dataDir, 'queue')),
    engine: createCutDisk('ext4', diskBytes, join(dataDir, 'engine')),
  };
  const service = new Service(dataDir, { flags });
  await service.start();
  const observations: Observation[] = [];

  const statusOf = (answer: Promise<{ status: number }>) =>
    Promise.race([
      answer.then(({ status }) => String(status)),
      sleep(5_000).then(() => 'none in 5 s'),
    ]).catch(() => 'no connection');

  async function answers(): Promise<string> {
    const token = { type: 'access', name: 'faults', scopes: ['logs:read'] };
    const [ready, list, control] = await Promise.all([
      statusOf(sendPlain(`${service.quickstart.opsUrl}/readyz`)),
      statusOf(service.read('/logs', { limit: 1 })),
      statusOf(service.admin('POST', '/tokens', token)),
    ]);
    return `/readyz ${ready}, list ${list}, control ${control}`;
  }

  function saidSince(line: number): string[] {
    const lines = service.process.logs.slice(line).filter(({ level }) => level >= warnLevel);
    return [...new Set(lines.map(({ msg }) => msg))];
  }

  async function fill(name: DiskName, isMerging: boolean): Promise<void> {
    const seen = service.process.logs.length;
    const merging = isMerging
      ? runOnEngine(dataDir, 'OPTIMIZE TABLE weir.logs FINAL').catch(() => '')
      : undefined;
    const full = keepFull(disks[name].path, fullMs);
    await sleep(fullMs / 2);
    const during = await answers();
    await full;
    const { process } = service;
    const isBack = async () => process.exit() !== undefined || (await service.isReady());
    await until(isBack, { what: '/readyz after the disk has room', timeoutMs: 60_000 });
    await merging;
    const exit = process.exit();
    if (exit !== undefined) await service.start();
    observations.push({
      fault: `disk of ${name} full${isMerging ? ' during a merge' : ''}`,
      answers: during,
      said: saidSince(seen),
      ending: exit === undefined ? byItself : `ended with code ${String(exit.code)}`,
    });
  }

  /** Full for moments, repeatedly, to hit writes of all kinds of files. */
  async function flicker(name: DiskName): Promise<void> {
    const seen = service.process.logs.length;
    for (let time = 0; time < flickers; time++) {
      await keepFull(disks[name].path, 200);
      await sleep(600);
    }
    const during = await answers();
    await until(() => service.isReady(), { what: '/readyz after the disk has room' });
    const fault = `disk of ${name} full for a moment, ${flickers} times`;
    observations.push({ fault, answers: during, said: saidSince(seen), ending: byItself });
  }

  /** Every operation fails with EIO from now on. */
  async function fail(name: DiskName): Promise<void> {
    const seen = service.process.logs.length;
    const { process: running } = service;
    const children = childrenOf(running.pid);
    disks[name].fail();
    await Promise.race([running.exited, sleep(4_000)]);
    const during = running.exit() === undefined ? await answers() : 'none, the process has ended';
    const said = saidSince(seen);
    const exit = running.exit();
    if (exit === undefined) await service.kill('SIGKILL');
    for (const pid of children) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    for (const disk of ['queue', 'engine', 'data'] as const) {
      if (disk === name || name === 'data') await disks[disk].unmount();
    }
    for (const disk of ['data', 'queue', 'engine'] as const) {
      if (disk === name || name === 'data') disks[disk].mount();
    }
    await service.start();
    const ending = exit === undefined ? 'needed a restart' : `ended with code ${String(exit.code)}`;
    observations.push({ fault: `disk of ${name} fails (EIO)`, answers: during, said, ending });
    if (name === 'queue' && exit?.code !== diskFailedExitCode) {
      throw new Error(`a disk of the queue that failed: ${ending}, not code ${diskFailedExitCode}`);
    }
  }

  const strikes: Readonly<Record<string, () => Promise<void>>> = {
    'queue full': () => fill('queue', false),
    'engine full': () => fill('engine', false),
    'engine full, merging': () => fill('engine', true),
    'engine full, for moments': () => flicker('engine'),
    'data full': () => fill('data', false),
    'queue fails': () => fail('queue'),
    'engine fails': () => fail('engine'),
    'data fails': () => fail('data'),
  };
  const names = Object.keys(strikes).filter((name) => name.includes(match));
  let next = 0;

  return {
    service,
    quickstartFile: join(dataDir, 'quickstart.json'),
    targets: names as [string, ...string[]],
    observations,
    /** Each fault in turn, so that a short run covers all. */
    async strike(_target: string, random: Random) {
      await sleep(random.integer(0, 1_000));
      await strikes[names[next++ % names.length] ?? '']?.();
    },
    async ready() {
      await until(() => service.isReady(), { what: '/readyz after the last fault' });
    },
    async close() {
      await service.kill('SIGTERM');
      for (const name of ['engine', 'queue', 'data'] as const) await disks[name].remove();
    },
  };
}

/** Keeps the disk full, whatever the service deletes, then frees it. */
async function keepFull(folder: string, ms: number): Promise<void> {
  const file = join(folder, 'filler');
  let total = 0;
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const { bfree, bsize } = statfsSync(folder);
    for (let bytes = bfree * bsize; bytes >= bsize; ) {
      try {
        execFileSync('fallocate', ['-l', String(total + bytes), file], { stdio: 'ignore' });
        total += bytes;
        break;
      } catch {
        // Metadata needs room too, and the service keeps writing.
        bytes = Math.floor(bytes / 2);
      }
    }
    await sleep(50);
  }
  rmSync(file, { force: true });
}
