/**
 * What the queue tells of itself: its size and age as gauges, and a line and a count for everything
 * that goes wrong.
 */
import { Counter, Gauge } from 'prom-client';
import type { Instruments } from './instruments.ts';

export interface QueueOpened {
  readonly directory: string;
  readonly batches: number;
  readonly rows: number;
  readonly bytes: number;
  readonly quarantinedBatches: number;
  /** Files with bytes of the log that could not be read. */
  readonly setAsideFiles: number;
  readonly durationMs: number;
}

export interface QueueDamage {
  readonly kind: 'torn' | 'corrupt' | 'missing' | 'keys';
  readonly segment: string;
  readonly offset: number;
  readonly bytes: number;
  readonly fromSequence: bigint;
  readonly toSequence: bigint;
  /** Acknowledged batches that are lost; undefined where that is not known. */
  readonly batches: number | undefined;
  readonly setAside: string;
}

export interface QueueGauges {
  readonly writable: boolean;
  readonly bytes: number;
  readonly batches: number;
  readonly rows: number;
  readonly oldestAgeMs: number;
  readonly quarantinedBatches: number;
}

export type QueueTelemetry = ReturnType<typeof createQueueTelemetry>;

export function createQueueTelemetry({ log, metrics }: Instruments) {
  const registers = [metrics];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const appendedBatches = counter('weir_queue_appended_batches_total', 'Batches made durable');
  const appendedBytes = counter('weir_queue_appended_bytes_total', 'Frame bytes made durable');
  const refused = counter('weir_queue_refused_batches_total', 'Batches refused', ['reason']);
  const damaged = counter('weir_queue_damage_total', 'Stretches of the log not readable', ['kind']);
  const lost = counter('weir_queue_lost_batches_total', 'Acknowledged batches found to be lost');
  const failures = counter('weir_queue_failures_total', 'Writes or syncs that failed for good');

  return {
    opened(event: QueueOpened): void {
      log.info(event, 'queue opened');
    },
    retriesFound(event: { readonly batches: number }): void {
      log.info(event, 'queue has batches drained again that had been set aside');
    },
    retryPassedOver({ file, error }: { readonly file: string; readonly error: Error }): void {
      damaged.inc({ kind: 'unreadable' });
      log.error({ file, err: error }, 'queue leaves a batch that was retried to the next start');
    },
    batchAppended(frameBytes: number): void {
      appendedBatches.inc();
      appendedBytes.inc(frameBytes);
    },
    appendRefused(event: {
      readonly reason: 'failed' | 'disk' | 'backlog' | 'busy' | 'away';
    }): void {
      refused.inc(event);
    },
    outOfRoom(error: Error): void {
      log.error({ err: error }, 'queue has no room on its disk and refuses appends until it has');
    },
    roomAgain(): void {
      log.info('queue has room on its disk again');
    },
    failed(error: Error): void {
      failures.inc();
      log.error({ err: error }, 'queue cannot write to its disk: weir ends, to be restarted');
    },
    damageFound(damage: QueueDamage): void {
      damaged.inc({ kind: damage.kind });
      lost.inc(damage.batches ?? 0);
      const line = {
        ...damage,
        fromSequence: damage.fromSequence.toString(),
        toSequence: damage.toSequence.toString(),
      };
      log[damage.kind === 'torn' ? 'warn' : 'error'](line, damageMessage(damage));
    },
    foreignFile(event: { readonly directory: string; readonly name: string }): void {
      log.warn(event, 'queue leaves a file alone that is not its own');
    },
    checkpointUnusable(event: { readonly state: 'absent' | 'damaged' | 'foreign' }): void {
      log.error(event, 'queue has no usable checkpoint and drains again all that is on disk');
    },
    /** Absent: after an upgrade or a restore, or removed. */
    syncedMarkUnusable(event: { readonly state: 'absent' | 'damaged' | 'foreign' }): void {
      const message = 'queue cannot tell a torn end from lost batches: its synced mark is unusable';
      log[event.state === 'damaged' ? 'error' : 'warn'](event, message);
    },
    /** Reads the gauges whenever they are asked for. */
    watch: (read: () => QueueGauges) => watchGauges(registers, read),
  };
}

function damageMessage({ kind, batches }: QueueDamage): string {
  switch (kind) {
    case 'torn':
      return batches === undefined
        ? 'queue cut off the torn end of an unclean stop; it may have been acknowledged'
        : 'queue cut off the torn end of an unclean stop, which was never acknowledged';
    case 'keys':
      return 'queue lost idempotency keys: a repeated request may be stored twice';
    default:
      return batches === 0
        ? 'queue found damage in its log, and all batches are there'
        : 'queue lost batches that were acknowledged';
  }
}

function watchGauges(registers: Instruments['metrics'][], read: () => QueueGauges): void {
  const gauge = (name: string, help: string, value: (gauges: QueueGauges) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value(read()));
      },
    });
  gauge('weir_queue_bytes', 'Bytes on disk not yet released', (now) => now.bytes);
  gauge('weir_queue_batches', 'Batches not yet released', (now) => now.batches);
  gauge('weir_queue_rows', 'Rows not yet released', (now) => now.rows);
  gauge('weir_queue_writable', '1 while appends are taken', (now) => (now.writable ? 1 : 0));
  gauge(
    'weir_queue_oldest_age_seconds',
    'Age of the oldest batch not yet released',
    (now) => now.oldestAgeMs / 1000,
  );
  gauge(
    'weir_queue_quarantined_batches',
    'Batches set aside on disk',
    (now) => now.quarantinedBatches,
  );
}
