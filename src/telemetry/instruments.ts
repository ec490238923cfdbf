/**
 * What every telemetry file is built on: one structured log and one metrics registry, made once by
 * `main`. The other files of this folder turn each thing that can happen into one function with
 * plain values in, which writes the log line and the counters together.
 */
import { pino, type Logger } from 'pino';
import { Registry } from 'prom-client';

export interface Instruments {
  readonly log: Logger;
  readonly metrics: Registry;
}

export type LogThreshold = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * Logs JSON lines to standard error, so that standard output stays free for what a command prints.
 * @param fields in every line.
 */
export function createInstruments(level: LogThreshold, fields: object = {}): Instruments {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const log = pino({ level, base: { ...fields }, timestamp }, process.stderr);
  return { log, metrics: new Registry() };
}
