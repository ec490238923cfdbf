/** Queues on a test NATS, and batches for them. */
import type { Queue } from '../../src/queue/port.ts';
import type { NatsSettings } from '../../src/queue/nats/connection.ts';
import { openNatsQueue } from '../../src/queue/nats/nats-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';

export const owner = { accountId: 'account', streamId: 'stream', receiverId: 'receiver' };

export function toOptions(urls: string[], over: Partial<NatsSettings> = {}): NatsSettings {
  return {
    urls,
    user: '',
    password: '',
    credentialsFile: '',
    caFile: '',
    certFile: '',
    keyFile: '',
    prefix: 'weir',
    shards: 2,
    replicas: urls.length,
    storage: 'file',
    timeoutMs: 5000,
    leaseSeconds: 10,
    maxBacklogBytes: 0,
    idempotencyTtlHours: 1,
    ...over,
  };
}

export function openQueue(options: NatsSettings): Promise<Queue> {
  const instruments = createInstruments('silent');
  return openNatsQueue(options, instruments, createQueueEvents(instruments));
}

/** A batch whose payload begins with this text. */
export function toBatch(text: string, bytes = Buffer.byteLength(text), layout = 'logs/1' as const) {
  const payload = Buffer.from(new ArrayBuffer(Math.max(bytes, Buffer.byteLength(text))));
  payload.write(text);
  return { layout, rows: 1, payload };
}

/** @returns the text given to `toBatch` */
export function textOf({ payload }: { readonly payload: Uint8Array }): string {
  return Buffer.from(payload).toString().replace(/\0+$/, '');
}
