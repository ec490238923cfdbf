/**
 * What the drain tells of itself: inserts with their times, failures by kind, and every batch it
 * gives up on.
 */
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Instruments } from './instruments.ts';

export type DrainTelemetry = ReturnType<typeof createDrainTelemetry>;

export interface InsertDone {
  readonly batches: number;
  readonly rows: number;
  readonly bytes: number;
  readonly durationMs: number;
}

export interface InsertFailed {
  readonly failure: 'data' | 'unavailable' | 'unknown' | 'superseded';
  readonly batches: number;
  /** How often this very insert has failed now. */
  readonly attempt: number;
  readonly error: Error;
}

export function createDrainTelemetry({ log, metrics }: Instruments) {
  const registers = [metrics];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const insertedBatches = counter('weir_drain_batches_total', 'Batches stored');
  const insertedRows = counter('weir_drain_rows_total', 'Rows stored');
  const insertedBytes = counter('weir_drain_bytes_total', 'Payload bytes stored');
  const failures = counter('weir_drain_insert_failures_total', 'Inserts that failed', ['failure']);
  const fences = counter(
    'weir_drain_fences_total',
    'Times the fate of earlier inserts was settled',
  );
  const interruptions = counter('weir_drain_queue_failures_total', 'Queue calls that failed');
  const quarantined = counter(
    'weir_drain_quarantined_batches_total',
    'Batches the store will never take, set aside on disk',
  );
  const seconds = new Histogram({
    name: 'weir_drain_insert_seconds',
    help: 'Time of one successful insert',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const lag = new Gauge({
    name: 'weir_drain_lag_seconds',
    help: 'From receipt to storage, of the oldest batch last stored',
    registers,
  });

  return {
    inserted(event: InsertDone): void {
      insertedBatches.inc(event.batches);
      insertedRows.inc(event.rows);
      insertedBytes.inc(event.bytes);
      seconds.observe(event.durationMs / 1000);
    },
    released(event: { readonly lagMs: number }): void {
      lag.set(event.lagMs / 1000);
    },
    insertFailed({ failure, batches, attempt, error }: InsertFailed): void {
      failures.inc({ failure });
      log.warn({ failure, batches, attempt, err: error }, 'drain cannot insert and tries again');
    },
    fenced(): void {
      fences.inc();
    },
    fenceFailed(error: Error): void {
      log.warn({ err: error }, 'drain cannot learn the fate of an insert and asks again');
    },
    batchQuarantined(event: { readonly sequence: bigint; readonly reason: string }): void {
      quarantined.inc();
      const line = { ...event, sequence: event.sequence.toString() };
      log.error(line, 'drain gave up on a batch that the store will never take');
    },
    queueFailed(event: { readonly action: string; readonly error: Error }): void {
      interruptions.inc();
      log.error({ action: event.action, err: event.error }, 'drain cannot use the queue');
    },
  };
}
