/** Events of the queue, on disk or at NATS, and of the drain. */
import { type Instruments, registerMetrics } from './instruments.ts';
import {
  drainMetrics,
  natsMetrics,
  queueLevelMetrics,
  queueMetrics,
  shardMetrics,
} from './metrics.ts';

export interface QueueOpened {
  readonly directory: string;
  readonly batches: number;
  readonly rows: number;
  readonly bytes: number;
  readonly quarantinedBatches: number;
  /** Files with unreadable bytes of the log. */
  readonly damagedFiles: number;
  readonly durationMs: number;
}

export interface QueueDamage {
  readonly kind: 'torn' | 'corrupt' | 'missing' | 'keys';
  readonly segment: string;
  readonly offset: number;
  readonly bytes: number;
  readonly fromSequence: bigint;
  readonly toSequence: bigint;
  /** Acknowledged batches that are lost; undefined if unknown. */
  readonly batches: number | undefined;
  /** Where a copy of the bytes is; undefined = there is none. */
  readonly quarantineFile?: string | undefined;
}

/** Gauges, read at each scrape. */
export interface QueueGauges {
  readonly writable: boolean;
  /** Bytes not yet released. */
  readonly bytes: number;
  readonly batches: number;
  /** Of the batches that this process has seen. */
  readonly rows: number;
  /** Age of the oldest batch not yet released; 0 when empty. */
  readonly oldestAgeMs: number;
  readonly quarantinedBatches: number;
}

export type QueueEvents = ReturnType<typeof createQueueEvents>;

export function createQueueEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, queueMetrics);
  return {
    opened: (event: QueueOpened) => log.info(event, 'queue opened'),
    retriesFound: (event: { batches: number }) =>
      log.info(event, 'queue drains batches of the quarantine that an operator retried'),
    retryUnreadable({ file, error }: { file: string; error: Error }) {
      metrics.weir_queue_damage_total.inc({ kind: 'unreadable' });
      log.error({ file, err: error }, 'queue cannot read a retried batch until the next start');
    },
    batchAppended(frameBytes: number) {
      metrics.weir_queue_appended_batches_total.inc();
      metrics.weir_queue_appended_bytes_total.inc(frameBytes);
    },
    appendRefused: (event: { reason: 'failed' | 'disk' | 'backlog' | 'busy' | 'away' }) =>
      metrics.weir_queue_refused_batches_total.inc(event),
    diskFull: (error: Error) =>
      log.error({ err: error }, 'queue disk is full: appends are refused until space is freed'),
    diskFreed: () => log.info('queue disk has space again'),
    failed(error: Error) {
      metrics.weir_queue_failures_total.inc();
      log.error({ err: error }, 'queue cannot write to its disk: weir exits and must be restarted');
    },
    damageFound(damage: QueueDamage) {
      metrics.weir_queue_damage_total.inc({ kind: damage.kind });
      metrics.weir_queue_lost_batches_total.inc(damage.batches ?? 0);
      const line = {
        ...damage,
        fromSequence: damage.fromSequence.toString(),
        toSequence: damage.toSequence.toString(),
      };
      log[damage.kind === 'torn' ? 'warn' : 'error'](line, damageMessage(damage));
    },
    foreignFile: (event: { directory: string; name: string }) =>
      log.warn(event, 'queue ignores a file of another data directory'),
    checkpointUnusable: (event: { state: 'absent' | 'damaged' | 'foreign' }) =>
      log.error(event, 'queue has no usable checkpoint and drains everything on disk again'),
    /** The mark is absent after an upgrade or a restore. */
    syncedMarkUnusable(event: { state: 'absent' | 'damaged' | 'foreign' }) {
      const message = 'queue cannot tell a torn end from lost batches: its synced mark is unusable';
      log[event.state === 'damaged' ? 'error' : 'warn'](event, message);
    },
    /** @param read called for each gauge at each scrape */
    watch(read: () => QueueGauges): void {
      registerMetrics(registry, queueLevelMetrics, {
        weir_queue_bytes: () => read().bytes,
        weir_queue_batches: () => read().batches,
        weir_queue_rows: () => read().rows,
        weir_queue_writable: () => Number(read().writable),
        weir_queue_oldest_age_seconds: () => read().oldestAgeMs / 1000,
        weir_queue_quarantined_batches: () => read().quarantinedBatches,
      });
    },
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

export type NatsEvents = ReturnType<typeof createNatsEvents>;

export function createNatsEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, natsMetrics);
  const connected = metrics.weir_queue_connected;
  let isLost = false;
  let restoreFault = '';
  return {
    connectionMade(server: string) {
      connected.set(1);
      log.info({ server }, isLost ? 'queue reconnected to NATS' : 'queue connected to NATS');
      isLost = false;
    },
    connectionLost(server: string) {
      connected.set(0);
      log.error({ server }, 'queue lost its connection to NATS');
      isLost = true;
    },
    requestRejected: (error: Error) =>
      log.warn({ err: error }, 'NATS rejected a request of the queue'),
    published: (seconds: number) => metrics.weir_queue_publish_seconds.observe(seconds),
    publishFailed: (kind: string) => metrics.weir_queue_publish_failures_total.inc({ kind }),
    shardFailed: (event: { shard: number; kind: string; reason: string }) =>
      log.error(event, 'queue refuses appends to a shard until JetStream accepts them again'),
    shardRecovered: (event: { shard: number }) =>
      log.info(event, 'queue accepts appends to a shard again'),
    /** Logs each reason once. */
    restoreFailed(error: unknown) {
      const reason = String(error);
      if (reason !== restoreFault) log.error({ err: error }, 'queue cannot recreate a lost stream');
      restoreFault = reason;
    },
    provisioned: (event: { what: string; name: string }) =>
      log.info(event, 'queue created or changed a resource at NATS'),
    notProvisionedYet: (error: unknown) =>
      log.warn({ err: error }, 'JetStream is not ready; trying again'),
  };
}

export type ShardEvents = ReturnType<typeof createShardEvents>;

/** Why a writer stopped draining a shard. */
export type ShardLoss =
  | 'handed over'
  | 'closed'
  | 'not renewed'
  | 'superseded'
  | 'stream replaced'
  | 'consumer lost';

export function createShardEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, shardMetrics);
  return {
    shardTaken(event: { shard: number; epoch: bigint }) {
      metrics.weir_queue_shards_held.inc();
      metrics.weir_queue_shards_taken_total.inc();
      log.info({ ...event, epoch: event.epoch.toString() }, 'writer acquired a shard of the queue');
    },
    shardLost(event: { shard: number; reason: ShardLoss }) {
      metrics.weir_queue_shards_held.dec();
      metrics.weir_queue_shards_lost_total.inc({ reason: event.reason });
      const isPlanned = event.reason === 'handed over' || event.reason === 'closed';
      log[isPlanned ? 'info' : 'warn'](event, 'writer no longer drains a shard of the queue');
    },
    leaseFailed: (event: { key: string; error: unknown }) =>
      log.warn({ key: event.key, err: event.error }, 'writer cannot renew or look up a lease'),
    consumerLost(event: { shard: number; reason: string }) {
      metrics.weir_queue_consumers_lost_total.inc({ reason: event.reason });
      log.info(event, 'writer lost its consumer of a shard');
    },
    consumerFailed: (event: { shard: number; error: unknown }) =>
      log.warn(
        { shard: event.shard, err: event.error },
        'writer cannot read a shard; trying again',
      ),
    repeated: () => metrics.weir_queue_repeated_messages_total.inc(),
    damaged(event: { shard: number; reason: string }) {
      metrics.weir_queue_damaged_messages_total.inc();
      log.error(event, 'writer quarantines a damaged part of a message');
    },
    quarantineFailed: (error: unknown) =>
      log.error({ err: error }, 'writer cannot quarantine a damaged message; trying again'),
    uploadsDropped(event: { shard: number; uploads: number }) {
      metrics.weir_queue_dropped_uploads_total.inc(event.uploads);
      log.warn(event, 'writer drops incomplete batches, which were never acknowledged');
    },
  };
}

export type DrainEvents = ReturnType<typeof createDrainEvents>;

export interface InsertFailed {
  readonly failure: 'data' | 'unavailable' | 'unknown' | 'superseded';
  readonly batches: number;
  /** Number of attempts of this insert so far. */
  readonly attempt: number;
  readonly error: Error;
}

export function createDrainEvents({ log, metrics: registry }: Instruments) {
  const metrics = registerMetrics(registry, drainMetrics);
  return {
    inserted(event: { batches: number; rows: number; bytes: number; durationMs: number }) {
      metrics.weir_drain_batches_total.inc(event.batches);
      metrics.weir_drain_rows_total.inc(event.rows);
      metrics.weir_drain_bytes_total.inc(event.bytes);
      metrics.weir_drain_insert_seconds.observe(event.durationMs / 1000);
    },
    released: (event: { lagMs: number }) => metrics.weir_drain_lag_seconds.set(event.lagMs / 1000),
    insertFailed({ failure, batches, attempt, error }: InsertFailed) {
      metrics.weir_drain_insert_failures_total.inc({ failure });
      log.warn({ failure, batches, attempt, err: error }, 'drain cannot insert; trying again');
    },
    fenced: () => metrics.weir_drain_fences_total.inc(),
    fenceFailed: (error: Error) =>
      log.warn({ err: error }, 'drain cannot fence an earlier insert; trying again'),
    batchQuarantined(event: { sequence: bigint; reason: string }) {
      metrics.weir_drain_quarantined_batches_total.inc();
      const line = { ...event, sequence: event.sequence.toString() };
      log.error(line, 'drain quarantined a batch that the store rejects');
    },
    queueFailed(event: { action: string; error: Error }) {
      metrics.weir_drain_queue_failures_total.inc();
      log.error({ action: event.action, err: event.error }, 'drain cannot use the queue');
    },
  };
}
