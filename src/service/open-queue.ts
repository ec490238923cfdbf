/** Opens the queue: the log on this machine's disk, or NATS JetStream shared by several nodes. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import { openLocalQueue } from '../queue/disk/local-queue.ts';
import type { DiskQueueSettings } from '../queue/disk/log-directory.ts';
import type { Queue } from '../queue/port.ts';
import { createInstruments } from '../telemetry/instruments.ts';
import { createQueueEvents } from '../telemetry/queue-events.ts';
import type { Opening } from './opening.ts';
import { endAfterDiskFailure } from './process.ts';

export async function openQueue({ config, instruments, parts }: Opening): Promise<Queue> {
  const telemetry = createQueueEvents(instruments);
  if (config.queue.urls.length === 0) {
    const log = { ...toQueueOptions(config), onFailed: endAfterDiskFailure };
    return parts.own(await openLocalQueue(log, telemetry));
  }
  await assertLocalLogDrained(config);
  // A dynamic import: the NATS client is loaded only if it is used.
  const { openNatsQueue } = await import('../queue/nats/nats-queue.ts');
  return parts.own(await openNatsQueue(config.queue, instruments, telemetry));
}

/** @throws Error if the local log still holds batches, which this process would not drain */
export async function assertLocalLogDrained(config: Readonly<Config>): Promise<void> {
  const log = toQueueOptions(config);
  if (!existsSync(log.directory)) return;
  const queue = await openLocalQueue(log, createQueueEvents(createInstruments('silent')));
  const { batches } = queue.status();
  await queue.close();
  if (batches === 0) return;
  throw new Error(
    `cannot leave what is not stored yet in ${log.directory} (batches: ${batches}): start once ` +
      'more as before, with queue and store in one process but --ingest-port 0, so that no ' +
      'sender finds it, and stop when weir_queue_batches is 0',
  );
}

export function toQueueOptions({ queue, data }: Config): DiskQueueSettings {
  return { ...queue, directory: join(resolve(data), 'queue') };
}
