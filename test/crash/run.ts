/**
 * The crash test itself: several senders, `kill -9` of the gateway or the engine at random moments
 * (during a start as well), restarts on the same directory, and at the end every ledger against the
 * whole stream.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createRandom, type Random } from '../harness/random.ts';
import { readMetrics } from '../harness/metrics.ts';
import { startService, type Cursor, type Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { readLedger } from './ledger.ts';
import type { SenderTask } from './sender.ts';
import { judge, type Mode, type Verdict } from './verdict.ts';
import { nameOfSample, sampleName, type WireName } from './wires.ts';

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** Told of every kill, in words. */
  readonly say: (line: string) => void;
}

export interface CrashReport extends Verdict {
  readonly kills: Readonly<Record<Target, number>>;
  readonly requests: number;
  readonly seconds: number;
}

type Target = 'gateway' | 'engine' | 'start';

const senderKinds: readonly (readonly [WireName, Mode])[] = [
  ['json_logs', 'keyed'],
  ['json_logs', 'plain'],
  ['otlp_json', 'keyed'],
  ['otlp_protobuf', 'plain'],
  ['otlp_grpc', 'plain'],
  ['remote_write', 'idempotent'],
  ['prom_text', 'idempotent'],
];
const maxEventsPerRequest = 12;

/** Runs to the end even when the promise was broken; the faults are in the report. */
export async function runCrashTest({ kills, seed, say }: CrashOptions): Promise<CrashReport> {
  const startedAt = performance.now();
  const random = createRandom(seed);
  const ledgerDir = mkdtempSync(join(tmpdir(), 'weir-ledgers-'));
  const service = await startService({ expectedErrors: [/engine ended/, /EngineStartError/] });
  const tasks = senderKinds.map(([wire, mode], sender) => ({
    sender,
    wire,
    mode,
    ...toFiles(sender, service, ledgerDir),
    seed: random.integer(0, 2 ** 31),
    maxEvents: maxEventsPerRequest,
  }));
  const senders = tasks.map((task) => startSender(task, say));
  try {
    const counts = { gateway: 0, engine: 0, start: 0 };
    for (let kill = 1; kill <= kills; kill++) {
      const target = random.pick<Target>(['gateway', 'gateway', 'engine', 'engine', 'start']);
      counts[target]++;
      say(`kill ${kill} of ${kills}: ${target}`);
      await Promise.race([strike(service, target, random), ...senders.map((one) => one.failed)]);
    }
    await until(() => service.isReady(), { what: '/readyz after the last kill' });
    await Promise.all(senders.map((one) => one.stop()));
    const ledgers = tasks.map(({ sender, mode, ledgerFile }) => ({
      sender,
      mode,
      entries: readLedger(ledgerFile),
    }));
    const verdict = judge(ledgers, await readAll(service));
    const requests = ledgers.reduce((sum, { entries }) => sum + entries.size, 0);
    const seconds = (performance.now() - startedAt) / 1000;
    return { ...verdict, kills: counts, requests, seconds };
  } finally {
    await Promise.all(senders.map((one) => one.end()));
    await service.stop();
    rmSync(ledgerDir, { recursive: true, force: true });
  }
}

/** Kills the target after a random while, and brings the service back. */
async function strike(service: Service, target: Target, random: Random): Promise<void> {
  if (target === 'engine') {
    await sleep(random.integer(0, 600));
    const pids = await until(() => nonEmpty(service.enginePids()), { what: 'an engine to kill' });
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return;
  }
  await sleep(random.integer(0, 600));
  await service.kill('SIGKILL');
  if (target === 'start') {
    service.launch();
    await sleep(random.integer(0, 1_500));
    await service.kill('SIGKILL');
  }
  await service.start();
}

function toFiles(sender: number, service: Service, ledgerDir: string) {
  const quickstartFile = join(service.dataDir, 'quickstart.json');
  return { quickstartFile, ledgerFile: join(ledgerDir, `${sender}.ledger`) };
}

interface RunningSender {
  /** Rejects when the sender meets what it does not expect; else pending for ever. */
  readonly failed: Promise<never>;
  /** Lets the request under way end, then the sender. */
  stop(): Promise<void>;
  end(): Promise<void>;
}

function startSender(workerData: SenderTask, say: (line: string) => void): RunningSender {
  const worker = new Worker(new URL('./sender.ts', import.meta.url), { workerData });
  const failed = new Promise<never>((_, reject) => worker.once('error', reject));
  failed.catch((error: unknown) => say(`sender of ${workerData.wire}: ${String(error)}`));
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return {
    failed,
    stop: () => {
      worker.postMessage('stop');
      return Promise.race([exited, failed]);
    },
    end: async () => void (await worker.terminate()),
  };
}

/** Every log and every sample by the name of its event, once the queue has been drained. */
async function readAll(service: Service): Promise<Map<string, number>> {
  await until(async () => (await service.metric('weir_queue_batches')) === 0, {
    what: 'the queue to drain',
    timeoutMs: 60_000,
  });
  const stored = new Map<string, number>();
  let position: Cursor | undefined;
  for (;;) {
    const { logs, cursor } = await service.list({
      limit: 1_000,
      ...(position === undefined ? {} : { cursor: `${position.timestamp},${position.logId}` }),
    });
    if (logs.length === 0) break;
    for (const { message } of logs) stored.set(message, (stored.get(message) ?? 0) + 1);
    position = cursor;
  }
  for (const { labels, samples } of await readMetrics(service, { __name__: sampleName })) {
    for (const sample of samples) {
      const name = nameOfSample(labels, sample);
      stored.set(name, (stored.get(name) ?? 0) + 1);
    }
  }
  return stored;
}

function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
