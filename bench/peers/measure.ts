/** The same work on every peer: load, wait until its files are stable, ask. */
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpClient } from '../../test/harness/http.ts';
import { until } from '../../test/harness/until.ts';
import { type Percentiles, percentilesOf } from '../percentiles.ts';
import { cpuSeconds, peakMemoryBytes } from '../processes.ts';
import { diskBytes } from '../service-gauge.ts';
import type { CorpusFile } from './corpus.ts';
import type { Form, Peer, TimeRange } from './peer.ts';
import type { QuestionKind } from './questions.ts';

export interface PeerFigures {
  readonly name: string;
  readonly version: string;
  readonly flags: string;
  readonly acknowledgement: string;
  readonly acknowledgedPerSecond: number;
  readonly readablePerSecond: number;
  readonly ackMs: Percentiles;
  /** Requests repeated after another status than 2xx. */
  readonly refused: number;
  /** CPU seconds of all its processes until all is readable, and until its files are stable. */
  readonly cpuSeconds: { readonly loaded: number; readonly settled: number };
  /** Sum of the peaks of its processes, over the whole run. */
  readonly peakMemoryBytes: number;
  readonly diskBytes: { readonly loaded: number; readonly settled: number };
  readonly answers: readonly AnswerFigures[];
}

export interface AnswerFigures {
  readonly question: string;
  /** The fastest of the peer's forms, of the last round. */
  readonly form: string;
  /** Infinity if a round failed, such as by a timeout. */
  readonly p50Ms: number;
  readonly minMs: number;
  /** Per round; NaN for one that failed. */
  readonly counts: readonly number[];
}

export interface LoggedCorpus extends CorpusFile {
  /** Contains the timestamps of all rows. */
  readonly range: TimeRange;
}

const connections = 16;
/** Measured rounds of each question; some more choose the form and fill caches of files. */
const rounds = 9;
const trialRounds = 3;
const maxSettleMs = 900_000;
/** Longer than Weir keeps replaced parts and VictoriaLogs keeps data in memory. */
const stableMs = 95_000;

/** @param say called for each phase */
export async function measurePeer(
  peer: Peer,
  corpus: LoggedCorpus,
  questions: readonly QuestionKind[],
  say: (phase: string) => void,
): Promise<PeerFigures> {
  const cpu = () => peer.pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = { at: performance.now(), cpu: cpu() };
  const secondsSince = () => (performance.now() - before.at) / 1000;

  say('load');
  const { ackMs, refused } = await load(peer, corpus);
  const acknowledgedPerSecond = corpus.rows / secondsSince();
  await readable(peer, corpus);
  const readablePerSecond = corpus.rows / secondsSince();
  const loaded = { cpu: cpu() - before.cpu, bytes: diskBytes(peer.dataDir) };

  say('settle');
  await peer.idle();
  if (!(await settled(peer.dataDir))) say(`not settled after ${maxSettleMs / 1000} s`);
  const rest = { cpu: cpu() - before.cpu, bytes: diskBytes(peer.dataDir) };

  const answers: AnswerFigures[] = [];
  for (const question of questions) {
    say(question.name);
    answers.push(await measureQuestion(peer, question));
  }
  const { name, version, flags, acknowledgement } = peer;
  return {
    name,
    version,
    flags,
    acknowledgement,
    acknowledgedPerSecond,
    readablePerSecond,
    ackMs: percentilesOf(ackMs),
    refused,
    cpuSeconds: { loaded: loaded.cpu, settled: rest.cpu },
    peakMemoryBytes: peer.pids().reduce((sum, pid) => sum + peakMemoryBytes(pid), 0),
    diskBytes: { loaded: loaded.bytes, settled: rest.bytes },
    answers,
  };
}

/** Sends every batch once, as fast as answers come. */
async function load(peer: Peer, corpus: CorpusFile): Promise<{ ackMs: number[]; refused: number }> {
  const { url, headers, toBody } = peer.insertTarget;
  const http = createHttpClient(peer.ca, connections);
  const file = await open(corpus.path);
  const batches = corpus.batches.values();
  const ackMs: number[] = [];
  let refused = 0;
  const send = async () => {
    for (const { from, to } of batches) {
      const { buffer } = await file.read({ buffer: Buffer.alloc(to - from), position: from });
      const body = toBody(buffer);
      for (;;) {
        const sentAt = performance.now();
        const answer = await http.send(url, { method: 'POST', headers, body });
        if (answer.status < 300) {
          ackMs.push(performance.now() - sentAt);
          break;
        }
        if (answer.status === 400) throw new Error(`cannot load ${peer.name}: ${answer.text}`);
        refused += 1;
        await sleep(50);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, send));
  } finally {
    http.close();
    await file.close();
  }
  return { ackMs, refused };
}

/** @throws Error unless exactly the rows of the corpus become readable */
async function readable(peer: Peer, { rows, range }: LoggedCorpus): Promise<void> {
  const count = await until(
    async () => {
      const found = await peer.count(range);
      return found >= rows && found;
    },
    { what: `${rows} rows to be readable in ${peer.name}`, timeoutMs: 900_000, everyMs: 200 },
  );
  if (count !== rows) throw new Error(`cannot compare: ${peer.name} has ${count} of ${rows} rows`);
}

/**
 * Waits until the size of `directory` was stable for `stableMs`, so that no merge goes on.
 * @returns false after `maxSettleMs`
 */
export async function settled(directory: string): Promise<boolean> {
  const sizes: SizeAt[] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < maxSettleMs) {
    sizes.push({ atMs: performance.now(), bytes: diskBytes(directory) });
    if (isStable(sizes, stableMs)) return true;
    await sleep(2_000);
  }
  return false;
}

export interface SizeAt {
  readonly atMs: number;
  readonly bytes: number;
}

/** Whether the last sizes, over at least `forMs`, differ by at most 0.2 %. */
export function isStable(sizes: readonly SizeAt[], forMs: number): boolean {
  const last = sizes.at(-1);
  if (last === undefined) return false;
  const before = sizes.findLastIndex(({ atMs }) => last.atMs - atMs >= forMs);
  if (before === -1) return false;
  const recent = sizes.slice(before).map(({ bytes }) => bytes);
  return Math.max(...recent) <= Math.min(...recent) * 1.002;
}

async function measureQuestion(
  peer: Peer,
  { name, toQuestion }: QuestionKind,
): Promise<AnswerFigures> {
  const formAt = (round: number, index: number): Form => {
    const form = peer.formsOf(toQuestion(round))[index];
    if (form === undefined) throw new Error(`cannot ask ${peer.name}: no form of ${name}`);
    return form;
  };
  const timed = async (round: number, index: number) => {
    const form = formAt(round, index);
    const askedAt = performance.now();
    try {
      const count = await form.ask();
      return { count, ms: performance.now() - askedAt };
    } catch (error) {
      console.error(`bench: ${name}, ${form.text}:`, error);
      return { count: Number.NaN, ms: Number.POSITIVE_INFINITY };
    }
  };
  const trials: number[] = [];
  for (const index of peer.formsOf(toQuestion(0)).keys()) {
    const times: number[] = [];
    for (let trial = 0; trial < trialRounds; trial++) {
      times.push((await timed(rounds + trials.length * trialRounds + trial, index)).ms);
    }
    trials.push(percentilesOf(times).p50);
  }
  const best = trials.indexOf(Math.min(...trials));
  const asked = [];
  for (let round = 0; round < rounds; round++) asked.push(await timed(round, best));
  const times = asked.map(({ ms }) => ms);
  return {
    question: name,
    form: formAt(rounds - 1, best).text,
    p50Ms: times.every(Number.isFinite) ? percentilesOf(times).p50 : Number.POSITIVE_INFINITY,
    minMs: Math.min(...times),
    counts: asked.map(({ count }) => count),
  };
}
