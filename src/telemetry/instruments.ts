/**
 * The structured log and the metrics registry of a process, and the creation of metrics from the
 * table. The `*-events.ts` files have one function for each event, which writes its log line and
 * its metrics together.
 */
import { pino, type Logger } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import { Histogram } from './histogram.ts';
import type { Metric, MetricTable } from './metrics.ts';

export interface Instruments {
  readonly log: Logger;
  readonly metrics: Registry;
}

export type LogThreshold = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * Logs JSON lines to standard error; standard output is for the results of commands.
 * @param fields added to every line.
 */
export function createInstruments(level: LogThreshold, fields: object = {}): Instruments {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const log = pino({ level, base: { ...fields }, timestamp }, process.stderr);
  return { log, metrics: new Registry() };
}

/** A metric can only be set in the ways of its kind, and with its labels. */
type Registered<M> =
  M extends Metric<'counter', infer Label>
    ? Counter<Label>
    : M extends Metric<'gauge', infer Label>
      ? Gauge<Label>
      : M extends Metric<'histogram', infer Label>
        ? Histogram<Label>
        : never;

/** @param levels of gauges that are read at each scrape. */
export function registerMetrics<Table extends MetricTable>(
  registry: Registry,
  table: Table,
  levels?: Readonly<Partial<Record<keyof Table, () => number>>>,
): { readonly [Name in keyof Table]: Registered<Table[Name]> } {
  const registers = [registry];
  const created = Object.entries(table).map(([name, { kind, help, labels, buckets = [] }]) => {
    const options = { name, help, labelNames: [...labels], registers };
    if (kind === 'counter') return [name, new Counter(options)];
    if (kind === 'histogram') return [name, new Histogram({ ...options, buckets }, registry)];
    const read = levels?.[name];
    if (read === undefined) return [name, new Gauge(options)];
    const level = {
      ...options,
      collect(this: Gauge): void {
        this.set(read());
      },
    };
    return [name, new Gauge(level)];
  });
  return Object.fromEntries(created) as ReturnType<typeof registerMetrics<Table>>;
}
