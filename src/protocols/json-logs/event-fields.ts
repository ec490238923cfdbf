/** The known top-level keys of a JSON log event, and the slots for their values. */
import { createKeyTable } from '../../codec/key-table.ts';
import { LabelSet } from './label-set.ts';

/** Slot numbers. */
export const field = {
  message: 0,
  msg: 1,
  event: 2,
  severity: 3,
  level: 4,
  serviceName: 5,
  service: 6,
  serviceNamespace: 7,
  host: 8,
  hostname: 9,
  labels: 10,
  timestamp: 11,
  time: 12,
  ts: 13,
  atTimestamp: 14,
  traceId: 15,
  spanId: 16,
  log: 17,
  journalMessage: 18,
  shortMessage: 19,
  body: 20,
  levelName: 21,
  logLevel: 22,
  severityText: 23,
  priority: 24,
  dottedService: 25,
  syslogIdentifier: 26,
  name: 27,
  dottedHost: 28,
  journalHost: 29,
  asctime: 30,
  journalTime: 31,
  dottedTraceId: 32,
  dottedSpanId: 33,
  errorMessage: 34,
  /** Filled from beside the event: the time and host of an envelope, and the event as a whole. */
  givenTime: 35,
  givenHost: 36,
  whole: 37,
} as const;

export const fieldKeys = [
  'message',
  'msg',
  'event',
  'severity',
  'level',
  'service_name',
  'service',
  'service_namespace',
  'host',
  'hostname',
  'labels',
  'timestamp',
  'time',
  'ts',
  '@timestamp',
  'trace_id',
  'span_id',
  'log',
  'MESSAGE',
  'short_message',
  'body',
  'levelname',
  'log.level',
  'severity_text',
  'PRIORITY',
  'service.name',
  'SYSLOG_IDENTIFIER',
  'name',
  'host.name',
  '_HOSTNAME',
  'asctime',
  '__REALTIME_TIMESTAMP',
  'trace.id',
  'span.id',
  'error.message',
  'time',
  'host',
  '',
] as const;

export const fieldTable = createKeyTable(fieldKeys.slice(0, field.givenTime));

/** Kind of the value in a slot; null counts as absent. */
export const slotKind = {
  absent: 0,
  plainString: 1,
  escapedString: 2,
  number: 3,
  /** An object, an array or a boolean. */
  other: 4,
} as const;

const use = { none: 0, filled: 1, column: 2 } as const;

/** One event as ranges of the body. Reused from event to event. */
export class EventSlots {
  readonly kind = new Uint8Array(fieldKeys.length);
  readonly start = new Int32Array(fieldKeys.length);
  readonly end = new Int32Array(fieldKeys.length);
  readonly labels = new LabelSet();
  /** Bytes that labels have beside those of the event. */
  addedBytes = 0;
  readonly #filled = new Uint8Array(fieldKeys.length);
  #filledCount = 0;
  readonly #use = new Uint8Array(fieldKeys.length);

  clear(): void {
    for (let i = 0; i < this.#filledCount; i += 1) {
      const index = this.#filled[i]!;
      this.kind[index] = slotKind.absent;
      this.#use[index] = use.none;
    }
    this.#filledCount = 0;
    this.addedBytes = 0;
    this.labels.clear();
  }

  set(index: number, kind: number, start: number, end: number): void {
    if (this.#use[index] === use.none) {
      this.#use[index] = use.filled;
      this.#filled[this.#filledCount++] = index;
    }
    this.kind[index] = kind;
    this.start[index] = start;
    this.end[index] = end;
  }

  /** Marks a slot that fills a column. @param index or -1 */
  markUsed(index: number): void {
    if (index >= 0) this.#use[index] = use.column;
  }

  /** Calls `keep` for each slot that has a value and fills no column. */
  eachUnused(keep: (index: number) => void): void {
    for (let i = 0; i < this.#filledCount; i += 1) {
      const index = this.#filled[i]!;
      if (this.#use[index] === use.filled && this.kind[index] !== slotKind.absent) keep(index);
    }
  }

  isAbsent(index: number): boolean {
    return this.kind[index] === slotKind.absent;
  }

  isString(index: number): boolean {
    const kind = this.kind[index];
    return kind === slotKind.plainString || kind === slotKind.escapedString;
  }
}
