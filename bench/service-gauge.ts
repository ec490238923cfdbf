/** Readings of the running service: processes, backlog, disk. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../test/harness/service.ts';
import { until } from '../test/harness/until.ts';
import { cpuSeconds } from './processes.ts';

/** CPU seconds so far. */
export interface CpuReading {
  readonly gateway: number;
  readonly engine: number;
  readonly generator: number;
}

export function readCpu(service: Service, generatorPid: number): CpuReading {
  return {
    gateway: cpuSeconds(service.process.pid),
    engine: service.enginePids().reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    generator: cpuSeconds(generatorPid),
  };
}

/** Acknowledged rows that are not stored yet. */
export async function backlogRows(service: Service): Promise<number> {
  const rows = await service.metric('weir_queue_rows');
  if (rows === undefined) throw new Error('cannot read the backlog: no metric weir_queue_rows');
  return rows;
}

export function drained(service: Service): Promise<true> {
  return until(async () => (await backlogRows(service)) === 0 || undefined, {
    what: 'the backlog to drain',
    timeoutMs: 600_000,
    everyMs: 100,
  });
}

/** Waits for the search indexes, which housekeeping builds when idle. */
export async function indexed(service: Service): Promise<void> {
  await delay(roundMs);
  await until(async () => (await service.metric('weir_store_unindexed_rows')) === 0 || undefined, {
    what: 'the search indexes to be built',
    timeoutMs: 600_000,
    everyMs: 500,
  });
}

const roundMs = 11_000;

/** Bytes of all files in `directory`, each once, whatever its hard links. */
export function diskBytes(directory: string, counted = new Set<number>()): number {
  return entriesOf(directory).reduce((sum, entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return sum + diskBytes(path, counted);
    const file = lstatSync(path, { throwIfNoEntry: false });
    if (file === undefined || counted.has(file.ino)) return sum;
    counted.add(file.ino);
    return sum + file.size;
  }, 0);
}

/** None of a folder that was removed meanwhile. */
function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
