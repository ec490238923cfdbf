/**
 * Ingest under load: a burst as fast as answers come, a sustained load with a flat backlog, and
 * single events on many connections.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../test/harness/service.ts';
import type { Load } from './load.ts';
import { type Percentiles, percentilesOf } from './percentiles.ts';
import { backlogRows, type CpuReading, readCpu } from './service-gauge.ts';

export interface IngestFigures {
  readonly seconds: number;
  readonly requestsPerSecond: number;
  /** Acknowledged, counted by the sender; without acknowledgements those that were accepted. */
  readonly eventsPerSecond: number;
  /** Rows stored. */
  readonly storedPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly ackMs: Percentiles;
  readonly cpuMicrosPerEvent: CpuReading;
  /** Backlog in rows: at the start, maximum, at the end. */
  readonly backlog: { readonly first: number; readonly most: number; readonly last: number };
  readonly refused: number;
}

/** Target backlog while searching the limit, in seconds of work: inserts must be full. */
const backlogSeconds = 3;

/** Sends as fast as answers come. */
export function measureBurst(service: Service, load: Load, seconds: number) {
  load.setRate(Number.POSITIVE_INFINITY);
  return measure(service, load, seconds, () => undefined);
}

/** A burst of a sender that gets no answers. */
export function measureUnanswered(service: Service, load: Load, seconds: number) {
  load.setRate(Number.POSITIVE_INFINITY);
  const counted = { ...load, totals: () => ({ ...load.totals(), events: Number.NaN }) };
  return measure(service, counted, seconds, () => undefined);
}

/** Holds a rate and measures once it has settled; the backlog shows whether the store keeps up. */
export async function measureSustained(
  service: Service,
  load: Load,
  seconds: number,
  eventsPerSecond: number,
) {
  load.setRate(eventsPerSecond);
  await sample(service, Math.min(5, seconds), () => undefined);
  return measure(service, load, seconds, () => undefined);
}

/** Finds the rate at which the backlog neither grows nor shrinks: the maximum of the store. */
export async function measureLimit(service: Service, load: Load, seconds: number) {
  const steer = createSteering(load);
  await sample(service, Math.max(Math.min(5, 2 * seconds), seconds / 6), steer);
  return measure(service, load, seconds, steer);
}

/** Sends until `events` more events are acknowledged, with a flat backlog. */
export async function fill(service: Service, load: Load, events: number): Promise<void> {
  const goal = load.totals().events + events;
  const steer = createSteering(load);
  while (load.totals().events < goal) await sample(service, 0.5, steer);
  load.setRate(0);
}

type Steer = (backlog: number, stored: number) => void;

async function measure(
  service: Service,
  load: Load,
  seconds: number,
  steer: Steer,
): Promise<IngestFigures> {
  load.takeLatencies();
  const first = await backlogRows(service);
  const before = await read(service, load);
  const most = await sample(service, seconds, steer);
  const last = await backlogRows(service);
  const after = await read(service, load);
  load.setRate(0);
  const took = (after.at - before.at) / 1000;
  const sent = after.events - before.events;
  const events = Number.isNaN(sent) ? after.accepted - before.accepted : sent;
  const latencies = load.takeLatencies();
  const perEvent = (part: keyof CpuReading) =>
    ((after.cpu[part] - before.cpu[part]) * 1e6) / Math.max(1, events);
  return {
    seconds: took,
    requestsPerSecond: latencies.length / took,
    eventsPerSecond: events / took,
    storedPerSecond: (events - (last - first)) / took,
    megabytesPerSecond: (after.bytes - before.bytes) / took / 1e6,
    ackMs: percentilesOf(latencies),
    cpuMicrosPerEvent: {
      gateway: perEvent('gateway'),
      engine: perEvent('engine'),
      generator: perEvent('generator'),
    },
    backlog: { first, most: Math.max(first, most, last), last },
    refused: after.refused - before.refused,
  };
}

async function read(service: Service, load: Load) {
  const accepted = await acceptedEvents(service);
  return { at: performance.now(), ...load.totals(), accepted, cpu: readCpu(service, load.pid) };
}

async function acceptedEvents(service: Service): Promise<number> {
  return (await service.metric('weir_ingest_events_accepted_total')) ?? 0;
}

/** Watches the backlog and lets `steer` react. @returns the largest backlog */
async function sample(service: Service, seconds: number, steer: Steer): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let most = 0;
  while (performance.now() < until) {
    await sleep(Math.min(250, Math.max(0, until - performance.now())));
    const backlog = await backlogRows(service);
    const accepted = await acceptedEvents(service);
    most = Math.max(most, backlog);
    steer(backlog, accepted - backlog);
  }
  return most;
}

/**
 * Sets the rate to the throughput of the store, corrected so that the backlog reaches its target
 * within two seconds.
 */
function createSteering(load: Load): Steer {
  let storedRate = 150_000;
  let last: { readonly at: number; readonly stored: number } | undefined;
  return (backlog, stored) => {
    const at = performance.now();
    if (last !== undefined) {
      const seconds = (at - last.at) / 1000;
      const weight = Math.min(1, seconds / 4);
      storedRate += weight * ((stored - last.stored) / seconds - storedRate);
    }
    last = { at, stored };
    const aim = storedRate * backlogSeconds;
    load.setRate(Math.max(5_000, storedRate + (aim - backlog) / 2));
  };
}
