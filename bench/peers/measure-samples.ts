/** Loads samples into one system by remote_write, and waits until its files are stable. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpClient, type HttpClient } from '../../test/harness/http.ts';
import { until } from '../../test/harness/until.ts';
import { createMetricCorpus } from '../metric-corpus.ts';
import { type Percentiles, percentilesOf } from '../percentiles.ts';
import { cpuSeconds, peakMemoryBytes } from '../processes.ts';
import { diskBytes } from '../service-gauge.ts';
import { settled } from './measure.ts';

export interface SamplesPeer {
  readonly name: string;
  readonly version: string;
  readonly flags: string;
  readonly acknowledgement: string;
  /** The files of the store, without a log or queue before it. */
  readonly storeDir: string;
  /** PEM of the certificate authority. */
  readonly ca: string;
  readonly write: Endpoint;
  /** PromQL. */
  readonly query: Endpoint;
  pids(): number[];
  /** Resolves once all acknowledged samples are in the store. */
  stored(): Promise<void>;
  stop(): Promise<void>;
}

interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SamplesFigures {
  readonly peer: Pick<SamplesPeer, 'name' | 'version' | 'flags' | 'acknowledgement'>;
  readonly acknowledgedPerSecond: number;
  readonly storedPerSecond: number;
  readonly ackMs: Percentiles;
  readonly refused: number;
  /** Of all processes, in µs per sample: until all is stored, and until the files are stable. */
  readonly cpuMicros: { readonly stored: number; readonly settled: number };
  readonly peakMemoryBytes: number;
  /** Bytes per sample. */
  readonly bytes: { readonly stored: number; readonly settled: number };
}

const series = 10_000;
const samplesPerRequest = 2_000;
const intervalMs = 15_000;
const connections = 16;

interface Load {
  readonly seed: number;
  readonly rows: number;
  /** Unix ms of the last scrape. */
  readonly endMs: number;
}

export async function measureSamples(peer: SamplesPeer, load: Load): Promise<SamplesFigures> {
  const rounds = Math.ceil(load.rows / series);
  const startMs = load.endMs - rounds * intervalMs;
  const corpus = createMetricCorpus({
    seed: load.seed,
    series,
    samplesPerRequest,
    startMs,
    intervalMs,
  });
  const samples = rounds * series;
  const http = createHttpClient(peer.ca, connections);
  try {
    const cpu = () => peer.pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    const before = cpu();
    const startedAt = performance.now();
    const perSecond = () => (samples * 1000) / (performance.now() - startedAt);
    const { ackMs, refused } = await send(http, peer, corpus, rounds);
    const acknowledgedPerSecond = perSecond();
    await peer.stored();
    const storedPerSecond = perSecond();
    const stored = { cpu: cpu() - before, bytes: diskBytes(peer.storeDir) };
    if (!(await settled(peer.storeDir))) console.error(`bench: ${peer.name} has not settled`);
    const rest = { cpu: cpu() - before, bytes: diskBytes(peer.storeDir) };
    const peakBytes = peer.pids().reduce((sum, pid) => sum + peakMemoryBytes(pid), 0);
    // Last, because the first query of a stream reads its newest samples into memory.
    const [first] = corpus.series;
    await assertComplete(http, peer, { labels: first?.labels ?? [], rounds, endMs: load.endMs });
    const micros = (seconds: number) => (seconds * 1e6) / samples;
    return {
      peer,
      acknowledgedPerSecond,
      storedPerSecond,
      ackMs: percentilesOf(ackMs),
      refused,
      cpuMicros: { stored: micros(stored.cpu), settled: micros(rest.cpu) },
      peakMemoryBytes: peakBytes,
      bytes: { stored: stored.bytes / samples, settled: rest.bytes / samples },
    };
  } finally {
    http.close();
  }
}

/** Sends every request once, as fast as answers come. */
async function send(
  http: HttpClient,
  peer: SamplesPeer,
  corpus: ReturnType<typeof createMetricCorpus>,
  rounds: number,
): Promise<{ ackMs: number[]; refused: number }> {
  const ackMs: number[] = [];
  let refused = 0;
  let left = rounds * corpus.requestsPerRound;
  const sendNext = async () => {
    while (left > 0) {
      left -= 1;
      // The corpus overwrites the body a round later.
      const sent = await sendSamples(http, peer, Buffer.from(corpus.next().body));
      ackMs.push(sent.ackMs);
      refused += sent.refused;
    }
  };
  await Promise.all(Array.from({ length: connections }, sendNext));
  return { ackMs, refused };
}

/** Sends a request until it is taken. @throws Error for a request that never can be */
export async function sendSamples(
  http: HttpClient,
  { name, write }: SamplesPeer,
  body: Buffer,
): Promise<{ ackMs: number; refused: number }> {
  const headers = {
    ...write.headers,
    'content-type': 'application/x-protobuf',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '0.1.0',
  };
  for (let refused = 0; ; refused += 1) {
    const sentAt = performance.now();
    const answer = await http.send(write.url, { method: 'POST', headers, body });
    if (answer.status < 300) return { ackMs: performance.now() - sentAt, refused };
    if (answer.status === 400) throw new Error(`cannot load ${name}: ${answer.text}`);
    await sleep(50);
  }
}

interface Expected {
  readonly labels: readonly (readonly [string, string])[];
  readonly rounds: number;
  readonly endMs: number;
}

/** @throws Error unless one series becomes readable with all its samples */
export async function assertComplete(
  http: HttpClient,
  { name, query }: SamplesPeer,
  { labels, rounds, endMs }: Expected,
): Promise<void> {
  const matchers = labels.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join();
  const seconds = Math.ceil(((rounds + 2) * intervalMs) / 1000);
  const parameters = new URLSearchParams({
    query: `count_over_time({${matchers}}[${seconds}s])`,
    time: String(Math.ceil((endMs + intervalMs) / 1000)),
    // VictoriaMetrics keeps answers about ranges from 3 hours on, and would repeat an early one.
    nocache: '1',
  });
  await until(
    async () => {
      const answer = await http.send(`${query.url}?${parameters.toString()}`, {
        headers: query.headers,
      });
      if (answer.status !== 200) throw new Error(`cannot ask ${name}: ${answer.text}`);
      const { data } = answer.json<{ data: { result: { value: [number, string] }[] } }>();
      return Number(data.result[0]?.value[1]) === rounds;
    },
    { what: `${rounds} samples of a series to be readable in ${name}`, timeoutMs: 120_000 },
  );
}
