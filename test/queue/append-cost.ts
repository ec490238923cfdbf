/**
 * Benchmark of append: acknowledged batches and events per second, and CPU time of the main thread.
 * Run by hand: `node test/queue/append-cost.ts [directory]`; asserts nothing.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDiskQueue } from '../../src/queue/disk/local-queue.ts';
import type { DiskQueue } from '../../src/queue/disk/disk-queue.ts';
import { createInstruments } from '../../src/telemetry/instruments.ts';
import { createQueueEvents } from '../../src/telemetry/queue-events.ts';

const owner = {
  accountId: '0b5a7f7e-3f0f-4d8e-9a43-0f2d7c1c2f10',
  streamId: '5b1f1d1e-7c55-4b0e-8f3b-2f1d3d0c9a11',
  receiverId: 'rcv_aaaaaaaaaaaaaaaaaaaaaaaaaa',
};

interface Shape {
  readonly name: string;
  readonly senders: number;
  readonly rows: number;
  readonly bytesPerRow: number;
  /** Target of batches per second; 0 = as many as possible. */
  readonly pace: number;
  readonly seconds: number;
}

const shapes: Shape[] = [
  {
    name: '1,000 events, flat out',
    senders: 16,
    rows: 1000,
    bytesPerRow: 300,
    pace: 0,
    seconds: 4,
  },
  { name: '1,000 events, 300/s', senders: 16, rows: 1000, bytesPerRow: 300, pace: 300, seconds: 4 },
  { name: '1 event, flat out', senders: 64, rows: 1, bytesPerRow: 300, pace: 0, seconds: 4 },
  { name: '1 event, 10,000/s', senders: 64, rows: 1, bytesPerRow: 300, pace: 10_000, seconds: 4 },
];

for (const shape of shapes) await measure(shape);

async function measure(shape: Shape): Promise<void> {
  const directory = await mkdtemp(join(process.argv[2] ?? tmpdir(), 'weir-append-'));
  const telemetry = createQueueEvents(createInstruments('error'));
  const queue = await openDiskQueue({ directory }, telemetry);
  const drained = drain(queue);
  const latencies: number[] = [];
  const cpu = process.threadCpuUsage();
  const startedAt = performance.now();
  const endsAt = startedAt + shape.seconds * 1000;
  const payload = new Uint8Array(shape.rows * shape.bytesPerRow).fill(97);
  let tick: Promise<void> | undefined;
  let batches = 0;
  const send = async () => {
    for (;;) {
      const now = performance.now();
      if (now >= endsAt) return;
      if (shape.pace > 0 && batches >= ((now - startedAt) / 1000) * shape.pace) {
        // One timer for all senders, since timers cost CPU time too.
        tick ??= setTimeout(2).then(() => {
          tick = undefined;
        });
        await tick;
        continue;
      }
      batches++;
      await queue.append({ layout: 'logs/1', rows: shape.rows, payload }, owner);
      latencies.push(performance.now() - now);
    }
  };
  await Promise.all(Array.from({ length: shape.senders }, send));
  const seconds = (performance.now() - startedAt) / 1000;
  const used = process.threadCpuUsage(cpu);
  const backlog = queue.status().bytes;
  await queue.close();
  await drained;
  await rm(directory, { recursive: true });
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]?.toFixed(2);
  const perSecond = batches / seconds;
  const cores = (used.user + used.system) / 1e6 / seconds;
  const figures = {
    'batches/s': perSecond.toFixed(0),
    'events/s': (perSecond * shape.rows).toFixed(0),
    'main thread % of a core': (cores * 100).toFixed(1),
    'us per batch': ((cores / perSecond) * 1e6).toFixed(1),
    'ack p50 ms': at(0.5),
    'ack p99 ms': at(0.99),
    'backlog MB': (backlog / 1e6).toFixed(0),
    'rss MB': (process.memoryUsage.rss() / 1e6).toFixed(0),
  };
  process.stdout.write(`${shape.name} ${JSON.stringify(figures)}\n`);
}

async function drain(queue: DiskQueue): Promise<void> {
  for (;;) {
    const taken = await queue.take({ maxRows: 250_000, maxBytes: 64 * 1024 * 1024 });
    const last = taken?.batches.at(-1);
    if (last === undefined) return;
    await setTimeout(200);
    await queue.release(last.id.sequence).catch(() => undefined);
  }
}
