/** What the store says of itself: inserts, reads, and what housekeeping did. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Instruments } from './instruments.ts';
import { createStoreDamageEvents, type StoreDamageEvents } from './store-damage-events.ts';

export type ReadKind =
  | 'list'
  | 'walk'
  | 'arrivals'
  | 'count_arrivals'
  | 'histogram'
  | 'facets'
  | 'samples'
  | 'series'
  | 'label_names'
  | 'label_values'
  | 'metric_metadata'
  | 'exemplars';

export interface StoreEvents extends StoreDamageEvents {
  inserted(insert: { rows: number; batches: number; mode: string; seconds: number }): void;
  insertFailed(insert: { rows: number; failure: string; seconds: number }, error: Error): void;
  /** A statement of a read has waited so long for its turn. */
  readBegan(seconds: number): void;
  read(kind: ReadKind, seconds: number): void;
  readFailed(kind: ReadKind, seconds: number, error: Error): void;
  /** No insert of the shard from before can land any more. */
  fenced(shard: string, seconds: number): void;
  migrated(versions: readonly number[]): void;
  /** A whole day of receipt was dropped; `reason` is `retention` or `disk_cap`. */
  dayDropped(day: string, reason: 'retention' | 'disk_cap', bytes: number): void;
  rowsExpired(rows: number): void;
  messagesIndexed(rows: number, seconds: number): void;
  /** Rows that searches scan, because their indexes are not built yet. */
  rowsUnindexed(rows: number): void;
  housekeepingFailed(task: string, error: Error): void;
  /** The server shows no sign of life; until it does, nothing is sent to it. */
  storeAway(cause: unknown): void;
  storeBack(): void;
}

export function createStoreEvents({ log, metrics }: Instruments): StoreEvents {
  const counts = createMetrics(metrics);
  return {
    ...createStoreDamageEvents({ log, metrics }),
    inserted(insert) {
      counts.insertSeconds.observe(insert.seconds);
      counts.insertedRows.inc(insert.rows);
      log.debug(insert, 'inserted');
    },
    insertFailed(insert, error) {
      counts.insertFailures.inc({ failure: insert.failure });
      log.warn({ ...insert, err: error }, 'cannot insert');
    },
    readBegan(seconds) {
      counts.readWaitSeconds.observe(seconds);
    },
    read(kind, seconds) {
      counts.readSeconds.observe({ kind }, seconds);
    },
    readFailed(kind, seconds, error) {
      counts.readSeconds.observe({ kind }, seconds);
      counts.readFailures.inc({ kind });
      log.warn({ kind, seconds, err: error }, 'cannot read');
    },
    fenced(shard, seconds) {
      log.info({ shard, seconds }, 'fenced the inserts of a shard');
    },
    migrated(versions) {
      if (versions.length > 0) log.info({ versions }, 'store schema migrated');
    },
    dayDropped(day, reason, bytes) {
      counts.droppedDays.inc({ reason });
      log[reason === 'disk_cap' ? 'warn' : 'info'](
        { day, reason, bytes },
        'dropped a day of receipt',
      );
    },
    rowsExpired(rows) {
      counts.expiredRows.inc(rows);
      log.info({ rows }, 'deleted expired rows');
    },
    messagesIndexed(rows, seconds) {
      log.info({ rows, seconds }, 'indexed messages for search');
    },
    rowsUnindexed(rows) {
      counts.unindexedRows.set(rows);
    },
    housekeepingFailed(task, error) {
      counts.housekeepingFailures.inc({ task });
      log.error({ task, err: error }, 'housekeeping failed; it will be tried again');
    },
    storeAway(cause) {
      counts.reachable.set(0);
      log.warn({ err: cause }, 'the store does not answer');
    },
    storeBack() {
      counts.reachable.set(1);
      log.info('the store answers again');
    },
  };
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  const insertSeconds = new Histogram({
    name: 'weir_store_insert_seconds',
    help: 'Time of one insert into the store',
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    registers,
  });
  const insertedRows = new Counter({
    name: 'weir_store_inserted_rows_total',
    help: 'Rows handed to the store in inserts that succeeded',
    registers,
  });
  const insertFailures = new Counter({
    name: 'weir_store_insert_failures_total',
    help: 'Inserts that failed, by what is known of their rows',
    labelNames: ['failure'],
    registers,
  });
  const readSeconds = new Histogram({
    name: 'weir_store_read_seconds',
    help: 'Time of one read of the store, over all its statements',
    labelNames: ['kind'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10],
    registers,
  });
  const readWaitSeconds = new Histogram({
    name: 'weir_store_read_wait_seconds',
    help: 'Time that one statement of a read waited for its turn',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10],
    registers,
  });
  const readFailures = new Counter({
    name: 'weir_store_read_failures_total',
    help: 'Reads that failed',
    labelNames: ['kind'],
    registers,
  });
  const droppedDays = new Counter({
    name: 'weir_store_dropped_days_total',
    help: 'Whole days of receipt dropped to free disk',
    labelNames: ['reason'],
    registers,
  });
  const expiredRows = new Counter({
    name: 'weir_store_expired_rows_total',
    help: 'Rows deleted because their stream keeps them no longer',
    registers,
  });
  const unindexedRows = new Gauge({
    name: 'weir_store_unindexed_rows',
    help: 'Rows whose search indexes are not built yet, as of the last round of housekeeping',
    registers,
  });
  const housekeepingFailures = new Counter({
    name: 'weir_store_housekeeping_failures_total',
    help: 'Housekeeping tasks that failed and will be tried again',
    labelNames: ['task'],
    registers,
  });
  const reachable = new Gauge({
    name: 'weir_store_reachable',
    help: '0 while the store is known not to answer, and is not asked',
    registers,
  });
  reachable.set(1);
  return {
    insertSeconds,
    insertedRows,
    insertFailures,
    readSeconds,
    readWaitSeconds,
    readFailures,
    droppedDays,
    expiredRows,
    unindexedRows,
    housekeepingFailures,
    reachable,
  };
}
