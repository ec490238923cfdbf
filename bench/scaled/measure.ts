/** The same work on any set: single events, a burst, a steady rate, and the latency to a reader. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../test/harness/service.ts';
import { until } from '../../test/harness/until.ts';
import { type Load, startLoad } from '../load.ts';
import { type Percentiles, percentilesOf } from '../percentiles.ts';
import { cpuSeconds } from '../processes.ts';
import { measureReadable } from '../readable.ts';
import type { MeasuredSet } from './sets.ts';

export interface MeasureOptions {
  readonly seed: number;
  /** Duration of each phase. */
  readonly seconds: number;
  /** Events/s of the steady phase. */
  readonly rate: number;
  /** Number of single logs whose latency is measured. */
  readonly samples: number;
}

export interface SetFigures {
  readonly name: string;
  readonly readable: Percentiles;
  readonly singles: PhaseFigures;
  readonly burst: PhaseFigures;
  readonly steady: PhaseFigures;
  /** Like `readable`, during the steady phase. */
  readonly readableUnderLoad: Percentiles;
  /** Seconds from the end of the burst until all of it is readable. */
  readonly caughtUpSeconds: number;
}

export interface PhaseFigures {
  readonly eventsPerSecond: number;
  readonly refused: number;
  readonly ackMs: Percentiles;
  /** CPU microseconds per event, by process kind. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  /** Until stored. */
  readonly inserts: { readonly perSecond: number; readonly rowsEach: number };
}

/** @throws Error unless exactly the acknowledged events are readable at the end */
export async function measureSet(set: MeasuredSet, options: MeasureOptions): Promise<SetFigures> {
  const { seed, seconds, rate, samples } = options;
  const { service } = set;
  const startMs = Date.now() - 60_000;
  const { ms: readable } = await measureReadable(service, samples, 50);

  const one = load(service, seed, { connections: 64, bodies: 6_400, eventsPerBody: 1 });
  const singles = await phase(set, one, seconds, Number.POSITIVE_INFINITY);
  const counted = await endOf(one);
  await readableTotal(service, startMs, counted + samples);

  const many = load(service, seed, { connections: 16, bodies: 128, eventsPerBody: 1_000 });
  const steady = await phase(set, many, seconds, rate);
  many.setRate(rate);
  const { ms: readableUnderLoad } = await measureReadable(service, samples, 50);
  const burst = await phase(set, many, seconds, Number.POSITIVE_INFINITY);
  const endedAt = performance.now();
  const total = counted + 2 * samples + (await endOf(many));
  await readableTotal(service, startMs, total);
  const caughtUpSeconds = (performance.now() - endedAt) / 1000;
  const phases = { singles, burst, steady };
  return { name: set.name, readable, ...phases, readableUnderLoad, caughtUpSeconds };
}

async function phase(
  { service, processes }: MeasuredSet,
  work: Load,
  seconds: number,
  eventsPerSecond: number,
): Promise<PhaseFigures> {
  work.setRate(eventsPerSecond);
  await sleep(1_000);
  work.takeLatencies();
  const look = async () => {
    const drained = await readDrained(service);
    return { at: performance.now(), ...work.totals(), cpu: cpuOf(processes()), ...drained };
  };
  const before = await look();
  await sleep(seconds * 1_000);
  const after = await look();
  const latencies = work.takeLatencies();
  work.setRate(0);
  const events = Math.max(1, after.events - before.events);
  const took = (after.at - before.at) / 1_000;
  const inserts = after.inserts - before.inserts;
  const cpuMicros = Object.fromEntries(
    Object.entries(after.cpu).map(([name, used]) => {
      return [name, ((used - (before.cpu[name] ?? 0)) * 1e6) / events];
    }),
  );
  return {
    eventsPerSecond: events / took,
    refused: after.refused - before.refused,
    ackMs: percentilesOf(latencies),
    cpuMicros,
    inserts: { perSecond: inserts / took, rowsEach: (after.rows - before.rows) / inserts },
  };
}

async function readDrained(service: Service): Promise<{ inserts: number; rows: number }> {
  const inserts = await service.metric('weir_drain_insert_seconds_count');
  const rows = await service.metric('weir_drain_rows_total');
  if (inserts === undefined || rows === undefined) throw new Error('cannot count inserts');
  return { inserts, rows };
}

function cpuOf(processes: Readonly<Record<string, readonly number[]>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(processes).map(([name, pids]) => {
      return [name, pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)];
    }),
  );
}

/** @returns total of acknowledged events. */
async function endOf(work: Load): Promise<number> {
  let before = -1;
  await until(
    async () => {
      const { events } = work.totals();
      const isQuiet = events === before;
      before = events;
      return isQuiet || undefined;
    },
    { what: 'the last answers', everyMs: 1_500 },
  );
  await work.stop();
  return before;
}

async function readableTotal(service: Service, startMs: number, expected: number): Promise<void> {
  const count = async () => {
    const window = { startTime: startMs, endTime: Date.now() + 60_000, buckets: 1 };
    return (await service.histogram(window)).total;
  };
  await until(async () => (await count()) >= expected || undefined, {
    what: `${expected} events in the store`,
    timeoutMs: 300_000,
    everyMs: 100,
  });
  const total = await count();
  if (total === expected) return;
  throw new Error(`cannot trust these figures: ${expected} acknowledged, ${total} stored`);
}

function load(
  { quickstart }: Service,
  seed: number,
  shape: { connections: number; bodies: number; eventsPerBody: number },
): Load {
  const { caFile, receivers } = quickstart;
  const { url, token } = receivers.http_json;
  return startLoad({
    seed,
    form: 'json_logs',
    ca: readFileSync(caFile, 'utf8'),
    url,
    token,
    ...shape,
  });
}
