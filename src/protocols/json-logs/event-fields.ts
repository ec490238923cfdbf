/** The known top-level keys of a JSON log event, and the slots for their values. */
import { createKeyTable } from '../../codec/key-table.ts';
import { LabelSet } from './label-set.ts';

/** Slot numbers; at most 32, since sets of slots are bits. */
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
] as const;

export const fieldTable = createKeyTable(fieldKeys);

/** Kind of the value in a slot; null counts as absent. */
export const slotKind = {
  absent: 0,
  plainString: 1,
  escapedString: 2,
  number: 3,
  /** An object, an array or a boolean. */
  other: 4,
} as const;

/** One event as ranges of the body. Reused from event to event. */
export class EventSlots {
  readonly kind = new Uint8Array(fieldKeys.length);
  readonly start = new Int32Array(fieldKeys.length);
  readonly end = new Int32Array(fieldKeys.length);
  readonly labels = new LabelSet();
  /** Bit i is set if the event has the key of slot i, even with null. */
  filled = 0;

  clear(): void {
    this.kind.fill(slotKind.absent);
    this.filled = 0;
    this.labels.clear();
  }

  set(index: number, kind: number, start: number, end: number): void {
    this.filled |= 1 << index;
    this.kind[index] = kind;
    this.start[index] = start;
    this.end[index] = end;
  }

  isAbsent(index: number): boolean {
    return this.kind[index] === slotKind.absent;
  }

  isString(index: number): boolean {
    const kind = this.kind[index];
    return kind === slotKind.plainString || kind === slotKind.escapedString;
  }
}
