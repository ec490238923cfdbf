/** Watches a running service during an action: whether it answers others, and its peak memory. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';

export interface Watched<T> {
  readonly result: T;
  /** Small requests on a separate connection, counted by status. */
  readonly pings: ReadonlyMap<number, number>;
  /** The longest wait of one of them. */
  readonly longestMs: number;
  /** Peak resident memory of the gateway. */
  readonly peakBytes: number;
}

const pauseMs = 5;

/** Stores and reads a log, and finds no request still in memory. */
export async function assertWorks(service: Service): Promise<void> {
  const { status } = await service.postLogs({ message: 'after the bombs' });
  assert.equal(status, 202);
  await until(async () => (await service.list({ search: '"after the bombs"' })).logs.length === 1, {
    what: 'the log after the bombs',
  });
  assert.equal(await service.metric('weir_ingest_in_flight_bytes'), 0);
}

/** Sends one small request after the other while `during` runs, at least one. */
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
