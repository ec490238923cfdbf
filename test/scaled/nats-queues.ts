/** Queues on the NATS of a test, and batches to append to them. */
import type { Queue } from '../../src/queue/port.ts';
import type { NatsQueueOptions } from '../../src/queue/nats/nats-options.ts';
import { openNatsQueue } from '../../src/queue/nats/nats-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';

export const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

export function toOptions(
  urls: readonly string[],
  over: Partial<NatsQueueOptions> = {},
): NatsQueueOptions {
  return {
    urls,
    user: undefined,
    password: undefined,
    credentialsFile: undefined,
    caFile: undefined,
    certFile: undefined,
    keyFile: undefined,
    prefix: 'weir',
    shards: 2,
    replicas: urls.length,
    storage: 'file',
    timeoutMs: 5000,
    leaseMs: 10_000,
    maxBacklogBytes: undefined,
    idempotencyTtlMs: 3_600_000,
    ...over,
  };
}

export function openQueue(options: NatsQueueOptions): Promise<Queue> {
  const instruments = createInstruments('silent');
  return openNatsQueue(options, instruments, createQueueEvents(instruments));
}

/** A batch whose payload begins with this text; the queue does not look into it. */
export function toBatch(text: string, bytes = Buffer.byteLength(text), layout = 'logs/1' as const) {
  const payload = Buffer.from(new ArrayBuffer(Math.max(bytes, Buffer.byteLength(text))));
  payload.write(text);
  return { layout, rows: 1, payload };
}

/** @returns what `toBatch` was given. */
export function textOf({ payload }: { readonly payload: Uint8Array }): string {
  return Buffer.from(payload).toString().replace(/\0+$/, '');
}
