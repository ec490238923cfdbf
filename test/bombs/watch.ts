/**
 * Watches a running service while something happens to it: whether others are still answered, and
 * how much memory it takes at most.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../harness/service.ts';

export interface Watched<T> {
  readonly result: T;
  /** Small requests sent meanwhile on a connection of their own, by the status of the answer. */
  readonly pings: ReadonlyMap<number, number>;
  /** The longest that one of them waited. */
  readonly longestMs: number;
  /** The most memory that the gateway had resident meanwhile. */
  readonly peakBytes: number;
}

const pauseMs = 5;

/** One small request after the other for as long as `during` takes, and at least one. */
export async function watch<T>(service: Service, during: () => Promise<T>): Promise<Watched<T>> {
  const { pid } = service.process;
  forgetPeak(pid);
  let isOver = false;
  const pings = new Map<number, number>();
  let longestMs = 0;
  const result = during().finally(() => (isOver = true));
  do {
    const sentAt = performance.now();
    const { status } = await service.postLogs({ message: 'ping' });
    longestMs = Math.max(longestMs, performance.now() - sentAt);
    pings.set(status, (pings.get(status) ?? 0) + 1);
    await delay(pauseMs);
  } while (!isOver);
  return { result: await result, pings, longestMs, peakBytes: memoryBytes(pid, 'VmHWM') };
}

/** See proc(5); Linux only. */
export function memoryBytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  return Number(kib ?? Number.NaN) * 1024;
}

function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
