/**
 * A NATS that is restored or loses data under load: only its own losses are lost, nothing is stored
 * twice, and all nodes recover.
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamAPI } from '@nats-io/jetstream';
import { until } from '../harness/until.ts';
import { Random } from '../queue/random.ts';
import { JudgingStore } from './judging-store.ts';
import { readBatches } from './nats-contents.ts';
import { type DrainedQueue, openDrained } from './nats-drained.ts';
import { textOf, toOptions } from './nats-queues.ts';
import { openSender, type Sender } from './nats-sender.ts';
import { NatsServer, withManager } from './nats-server.ts';

export const shardStreams = ['weir_0', 'weir_1'];
export const bucketStreams = ['KV_weir_leases', 'KV_weir_keys', 'KV_weir_signals'];

const { length: shards } = shardStreams;
const leaseMs = 2000;

interface Scene {
  readonly server: NatsServer;
  readonly drained: DrainedQueue;
  readonly store: JudgingStore;
  readonly sender: Sender;
}

/** @param change to the folder of the killed server; it and the older copy hold a backlog */
export function comesBack(change: (folder: string, copy: string) => void): Promise<void> {
  return inScene(async (scene) => {
    const { server, drained, sender } = scene;
    await gather(scene);
    await server.kill();
    const copy = mkdtempSync(join(tmpdir(), 'weir-nats-copy-'));
    try {
      cpSync(server.streamsFolder, copy, { recursive: true });
      await server.restart();
      drained.resume();
      await grew(sender, 400);
      await gather(scene);
      await server.kill();
      change(server.streamsFolder, copy);
    } finally {
      rmSync(copy, { recursive: true });
    }
    const left = await readLeft(server);
    const before = new Set(sender.acknowledged);
    await server.restart();
    drained.resume();
    await checkGoesOn(scene, { before, left });
  });
}

/** @param change made while the server runs */
export function isChanged(change: (streams: StreamAPI) => Promise<unknown>): Promise<void> {
  return inScene(async (scene) => {
    const { server, sender, drained } = scene;
    await withManager([server.url], ({ streams }) => change(streams));
    await until(() => isComplete(server), { what: 'all streams and buckets' });
    // Batches in flight when the stream was deleted may be acknowledged since.
    await grew(sender, 50);
    const before = new Set(sender.acknowledged);
    // By then every lease was acquired or renewed after the change.
    const later = drained.queue.watermarkNanos() + BigInt(2 * leaseMs) * 1_000_000n;
    await passes(drained, later);
    await checkGoesOn(scene, { before, left: [] });
  });
}

export function isKilledInARow(times: number): Promise<void> {
  return inScene(async (scene) => {
    const { server, sender } = scene;
    for (let round = 0; round < times; round++) {
      await grew(sender, 10);
      await server.kill();
      await server.restart();
    }
    await checkGoesOn(scene, { before: new Set(), left: [] });
  });
}

async function inScene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using parts = new AsyncDisposableStack();
  const server = parts.adopt(await NatsServer.start(), (it) => it.stop());
  const random = new Random(1);
  const store = new JudgingStore(random);
  const options = toOptions([server.url], {
    shards,
    leaseSeconds: leaseMs / 1000,
    timeoutMs: 2000,
  });
  const drained = parts.adopt(await openDrained(options, store), (it) => it.close());
  const sender = parts.adopt(openSender(drained.queue, random), (it) => it.stop());
  await grew(sender, 200);
  await work({ server, drained, store, sender });
}

async function gather({ drained, sender }: Scene): Promise<void> {
  drained.pause();
  await grew(sender, 150);
}

function grew({ acknowledged }: Sender, by: number): Promise<unknown> {
  const goal = acknowledged.size + by;
  return until(() => acknowledged.size >= goal, { what: `${by} more acknowledgements` });
}

function passes({ queue }: DrainedQueue, nanos: bigint): Promise<unknown> {
  return until(() => queue.watermarkNanos() > nanos, { what: 'the watermark' });
}

/** Batches that another server reads from the folder. @returns their texts */
async function readLeft({ streamsFolder }: NatsServer): Promise<string[]> {
  if (!existsSync(streamsFolder)) return [];
  const other = await NatsServer.start();
  try {
    await other.kill();
    cpSync(streamsFolder, other.streamsFolder, { recursive: true });
    await other.restart();
    return (await readBatches([other.url], { prefix: 'weir', shards })).map(textOf);
  } finally {
    await other.stop();
  }
}

async function isComplete(server: NatsServer): Promise<boolean> {
  return withManager([server.url], async ({ streams }) => {
    const names: string[] = [];
    for await (const name of streams.names()) names.push(name);
    return [...shardStreams, ...bucketStreams].every((name) => names.includes(name));
  });
}

interface Expected {
  /** Acknowledged before the change: NATS may have lost them. */
  readonly before: ReadonlySet<string>;
  /** The ones still in NATS. */
  readonly left: readonly string[];
}

async function checkGoesOn(scene: Scene, { before, left }: Expected): Promise<void> {
  const { server, drained, store, sender } = scene;
  await grew(sender, 300);
  await sender.stop();
  await passes(drained, BigInt(Date.now()) * 1_000_000n);
  const expected = [...left, ...[...sender.acknowledged].filter((text) => !before.has(text))];
  const missing = () => expected.filter((text) => store.countOf(text) === 0);
  await until(() => missing().length === 0, { what: 'all to be stored' }).catch((cause: unknown) =>
    assert.fail(`not stored: ${missing().join(' ')}; ${String(cause)}`),
  );
  await until(
    async () => (await readBatches([server.url], { prefix: 'weir', shards })).length === 0,
    { what: 'NATS to be empty' },
  );
  assert.deepEqual(store.faults, []);
}
