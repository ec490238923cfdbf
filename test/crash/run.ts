/**
 * The crash test: senders under load, random faults, then a comparison of every ledger with the
 * stored events. The stage decides which faults there are.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createRandom } from '../harness/random.ts';
import { sendPlain } from '../harness/http.ts';
import { readMetrics } from '../harness/metrics.ts';
import type { Cursor, Service } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { readLedger } from './ledger.ts';
import type { SenderTask } from './sender.ts';
import type { Stage } from './stage.ts';
import { judge, type Mode, type Verdict } from './verdict.ts';
import { nameOfSample, sampleName, type WireName } from './wires.ts';

export interface CrashOptions {
  readonly stage: Stage;
  readonly kills: number;
  readonly seed: number;
  /** Called with a description of each fault. */
  readonly say: (line: string) => void;
}

export interface CrashReport extends Verdict {
  readonly kills: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly seconds: number;
}

const senderKinds: readonly (readonly [WireName, Mode])[] = [
  ['json_logs', 'keyed'],
  ['json_logs', 'plain'],
  ['otlp_json', 'keyed'],
  ['otlp_protobuf', 'plain'],
  ['otlp_grpc', 'plain'],
  ['remote_write', 'idempotent'],
  ['prom_text', 'idempotent'],
  ['loki', 'plain'],
  ['elasticsearch', 'keyed'],
  ['splunk_hec', 'plain'],
  ['datadog', 'keyed'],
];
/** Of stages with socket listeners. */
const socketSenderKinds: typeof senderKinds = [
  ['forward', 'keyed'],
  ['syslog', 'plain'],
];
const maxEventsPerRequest = 12;

/** Runs to the end even after a violation; the report has the faults. */
export async function runCrashTest(options: CrashOptions): Promise<CrashReport> {
  const { stage, kills, seed, say } = options;
  const { service } = stage;
  const startedAt = performance.now();
  const random = createRandom(seed);
  const ledgerDir = mkdtempSync(join(tmpdir(), 'weir-ledgers-'));
  const kinds = stage.hasSockets === true ? [...senderKinds, ...socketSenderKinds] : senderKinds;
  const tasks = kinds.map(([wire, mode], sender) => ({
    sender,
    wire,
    mode,
    quickstartFile: stage.quickstartFile,
    ledgerFile: join(ledgerDir, `${sender}.ledger`),
    seed: random.integer(0, 2 ** 31),
    maxEvents: maxEventsPerRequest,
  }));
  const senders = tasks.map((task) => startSender(task, say));
  try {
    const counts: Record<string, number> = {};
    for (let kill = 1; kill <= kills; kill++) {
      const target = random.pick(stage.targets);
      counts[target] = (counts[target] ?? 0) + 1;
      say(`kill ${kill} of ${kills}: ${target}`);
      await Promise.race([stage.strike(target, random), ...senders.map((one) => one.failed)]);
    }
    await stage.ready();
    await allStopped(senders);
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
    await stage.close();
    rmSync(ledgerDir, { recursive: true, force: true });
  }
}

/** @throws Error when a request is never answered */
async function allStopped(senders: readonly RunningSender[]): Promise<void> {
  const running = new Set(senders);
  const stopping = senders.map(async (one) => {
    await one.stop();
    running.delete(one);
  });
  const late = until(() => running.size === 0, { what: 'answers', timeoutMs: 90_000 });
  const named = late.catch((cause: unknown) => {
    const wires = [...running].map(({ wire }) => wire).join(', ');
    throw new Error(`cannot stop senders that wait for an answer: ${wires}`, { cause });
  });
  await Promise.race([Promise.all(stopping), named]);
  await named;
}

interface RunningSender {
  readonly wire: WireName;
  /** Rejects on unexpected responses; otherwise stays pending. */
  readonly failed: Promise<never>;
  /** Finishes the request in flight, then stops. */
  stop(): Promise<void>;
  end(): Promise<void>;
}

function startSender(workerData: SenderTask, say: (line: string) => void): RunningSender {
  const worker = new Worker(new URL('./sender.ts', import.meta.url), { workerData });
  const failed = new Promise<never>((_, reject) => worker.once('error', reject));
  failed.catch((error: unknown) => say(`sender of ${workerData.wire}: ${String(error)}`));
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return {
    wire: workerData.wire,
    failed,
    stop: () => {
      worker.postMessage('stop');
      return Promise.race([exited, failed]);
    },
    end: async () => void (await worker.terminate()),
  };
}

/** Names of every stored log and sample, once the queue is drained. */
export async function readAll(service: Service): Promise<Map<string, number>> {
  await drained(service);
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

/** @throws Error with the state of the queue and the last log lines */
async function drained(service: Service): Promise<void> {
  const isEmpty = async () => (await service.metric('weir_queue_batches')) === 0;
  try {
    await until(isEmpty, { what: 'the queue to drain', timeoutMs: 60_000 });
  } catch (error) {
    const { text } = await sendPlain(`${service.quickstart.opsUrl}/metrics`);
    const metrics = text.split('\n').filter((line) => line.startsWith('weir_queue_'));
    const lines = service.process.logs.map(({ raw }) => raw);
    const timeOf = (line: string) => /"time":"([^"]+)"/.exec(line)?.[1] ?? '';
    const newest = lines.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b))).slice(-100);
    throw new Error([String(error), ...metrics, ...newest].join('\n'), { cause: error });
  }
}
