/** What happens to the shards of a queue that several writers share. */
import { Counter, Gauge } from 'prom-client';
import type { Instruments } from './instruments.ts';

export type ShardEvents = ReturnType<typeof createShardEvents>;

/** Why a shard is no longer this process's. */
export type ShardLoss = 'handed over' | 'not renewed' | 'superseded' | 'stream replaced' | 'closed';

export function createShardEvents({ log, metrics }: Instruments) {
  const registers = [metrics];
  const held = new Gauge({
    name: 'weir_queue_shards_held',
    help: 'Shards of the queue that this process drains',
    registers,
  });
  const taken = new Counter({
    name: 'weir_queue_shards_taken_total',
    help: 'Shards that this process has taken',
    registers,
  });
  const lost = new Counter({
    name: 'weir_queue_shards_lost_total',
    help: 'Shards that this process no longer drains, by reason',
    labelNames: ['reason'] as const,
    registers,
  });
  const repeated = new Counter({
    name: 'weir_queue_repeated_messages_total',
    help: 'Messages that were delivered again although they had been dealt with',
    registers,
  });
  const damaged = new Counter({
    name: 'weir_queue_damaged_messages_total',
    help: 'Parts of messages that could not be read and were set aside',
    registers,
  });
  const dropped = new Counter({
    name: 'weir_queue_dropped_uploads_total',
    help: 'Batches of which only some pieces came, never acknowledged to a sender',
    registers,
  });
  const consumers = new Counter({
    name: 'weir_queue_consumers_lost_total',
    help: 'Consumers that had to be made anew, by reason',
    labelNames: ['reason'] as const,
    registers,
  });
  return {
    shardTaken(event: { readonly shard: number; readonly epoch: bigint }): void {
      held.inc();
      taken.inc();
      log.info({ ...event, epoch: event.epoch.toString() }, 'writer takes a shard of the queue');
    },
    shardLost(event: { readonly shard: number; readonly reason: ShardLoss }): void {
      held.dec();
      lost.inc({ reason: event.reason });
      const isPlanned = event.reason === 'handed over' || event.reason === 'closed';
      log[isPlanned ? 'info' : 'warn'](event, 'writer no longer drains a shard of the queue');
    },
    leaseFailed(event: { readonly key: string; readonly error: unknown }): void {
      log.warn({ key: event.key, err: event.error }, 'writer cannot renew or look up a lease');
    },
    consumerLost(event: { readonly shard: number; readonly reason: string }): void {
      consumers.inc({ reason: event.reason });
      log.info(event, 'writer makes its consumer of a shard anew');
    },
    consumerFailed(event: { readonly shard: number; readonly error: unknown }): void {
      log.warn({ shard: event.shard, err: event.error }, 'writer cannot read a shard; tries again');
    },
    repeated(): void {
      repeated.inc();
    },
    damaged(event: { readonly shard: number; readonly reason: string }): void {
      damaged.inc();
      log.error(event, 'writer sets aside part of a message that is damaged');
    },
    quarantineFailed(error: unknown): void {
      log.error({ err: error }, 'writer cannot set a damaged message aside; tries again');
    },
    uploadsDropped(event: { readonly shard: number; readonly uploads: number }): void {
      dropped.inc(event.uploads);
      log.warn(event, 'writer drops pieces of batches that were never sent whole');
    },
  };
}
