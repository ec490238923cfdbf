/** Opens the queue: the log on this machine's disk, or the one that several nodes share. */
import { existsSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import { endAfterDiskFailure } from './fatal.ts';
import type { Opened } from './open-directory.ts';
import * as options from './options.ts';
import { openLocalQueue } from '../queue/disk/local-queue.ts';
import type { Queue } from '../queue/port.ts';
import { createInstruments, type Instruments } from '../telemetry/instruments.ts';
import { createQueueTelemetry } from '../telemetry/queue-events.ts';

export async function openQueue(
  config: Readonly<Config>,
  opened: Opened,
  instruments: Instruments,
): Promise<Queue> {
  const telemetry = createQueueTelemetry(instruments);
  const nats = options.toNatsQueueOptions(config);
  if (nats === undefined) {
    const log = { ...options.toQueueOptions(config), onFailed: endAfterDiskFailure };
    return opened(await openLocalQueue(log, telemetry));
  }
  await refuseForsakenLog(config);
  // Loaded only where it is used.
  const { openNatsQueue } = await import('../queue/nats/nats-queue.ts');
  return opened(await openNatsQueue(nats, instruments, telemetry));
}

/**
 * A log of the time before that still holds batches: nobody would ever store them.
 * @throws Error that says so
 */
export async function refuseForsakenLog(config: Readonly<Config>): Promise<void> {
  const log = options.toQueueOptions(config);
  if (!existsSync(log.directory)) return;
  const telemetry = createQueueTelemetry(createInstruments('silent'));
  const queue = await openLocalQueue(log, telemetry);
  const { batches } = queue.status();
  await queue.close();
  if (batches === 0) return;
  throw new Error(
    `cannot leave what is not stored yet in ${log.directory} (batches: ${batches}): start once ` +
      'more as before, with queue and store in one process but --ingest-port 0, so that no ' +
      'sender finds it, and stop when weir_queue_batches is 0',
  );
}
