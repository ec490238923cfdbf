/** Asks the questions of PromQL in several systems by turns, and compares answers and times. */
import { createHttpClient, type HttpClient } from '../../test/harness/http.ts';
import { cpuSeconds } from '../processes.ts';
import type { SamplesPeer } from './measure-samples.ts';
import type { PromqlQuestion, PromqlQuestionKind } from './promql-questions.ts';

export interface PromqlFigures {
  readonly question: string;
  /** Of the last round. */
  readonly query: string;
  /** In the order of the systems. */
  readonly systems: readonly {
    /** Infinity if a round failed. */
    readonly p50Ms: number;
    readonly minMs: number;
    /** Series and values of the last round. */
    readonly series: number;
    readonly values: number;
    /** Largest difference of a value from the first system's, relative; NaN if the times differ. */
    readonly difference: number;
  }[];
}

export interface PromqlRun {
  readonly questions: readonly PromqlFigures[];
  /** CPU seconds of each system while it was asked, with background work. */
  readonly cpuSeconds: readonly number[];
}

/** Measured rounds of each question; some more fill caches of files. */
const rounds = 15;
const trialRounds = 2;
export interface PromqlMeasurement {
  readonly kinds: readonly PromqlQuestionKind[];
  /**
   * Seconds for which each question is asked by turns before the first is measured: the
   * just-in-time compiler of a service that has run for a while has seen thousands of requests.
   */
  readonly warmUpSeconds: number;
  readonly say: (phase: string) => void;
}

export async function measurePromql(
  systems: readonly SamplesPeer[],
  { kinds, warmUpSeconds, say }: PromqlMeasurement,
): Promise<PromqlRun> {
  const clients = systems.map(({ ca }) => createHttpClient(ca));
  const cpu = ({ pids }: SamplesPeer) => pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = systems.map(cpu);
  const questions: PromqlFigures[] = [];
  try {
    say('first questions');
    for (const kind of kinds) await warmUp(systems, clients, { kind, warmUpSeconds });
    for (const kind of kinds) {
      say(kind.name);
      questions.push(await measureQuestion(systems, clients, kind));
    }
  } finally {
    for (const client of clients) client.close();
  }
  return { questions, cpuSeconds: systems.map((system, at) => cpu(system) - before[at]!) };
}

async function warmUp(
  systems: readonly SamplesPeer[],
  clients: readonly HttpClient[],
  { kind, warmUpSeconds }: { kind: PromqlQuestionKind; warmUpSeconds: number },
): Promise<void> {
  const untilMs = performance.now() + warmUpSeconds * 1000;
  for (let round = 0; performance.now() < untilMs; round++) {
    for (const [at, system] of systems.entries()) {
      await ask(clients[at]!, system, kind.of(round % trialRounds));
    }
  }
}

async function measureQuestion(
  systems: readonly SamplesPeer[],
  clients: readonly HttpClient[],
  { name, of }: PromqlQuestionKind,
): Promise<PromqlFigures> {
  const times = systems.map((): number[] => []);
  let answers: Points[] = [];
  for (let round = 0; round < trialRounds + rounds; round++) {
    const question = of(round);
    answers = [];
    for (const [at, system] of systems.entries()) {
      const { ms, points } = await ask(clients[at]!, system, question);
      if (round >= trialRounds) times[at]!.push(ms);
      answers.push(points);
    }
  }
  return {
    question: name,
    query: of(trialRounds + rounds - 1).query,
    systems: answers.map((points, at) => {
      const sorted = times[at]!.sort((left, right) => left - right);
      return {
        p50Ms: sorted[Math.floor(sorted.length / 2)]!,
        minMs: sorted[0]!,
        series: points.size,
        values: [...points.values()].reduce((sum, one) => sum + one.length, 0),
        difference: differenceOf(answers[0]!, points),
      };
    }),
  };
}

/** Times and values by the labels of their series. */
type Points = ReadonlyMap<string, readonly (readonly [number, string])[]>;

interface Answer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value?: readonly [number, string];
      readonly values?: readonly (readonly [number, string])[];
    }[];
  };
}

/** Until the last byte of the answer; reading it as JSON is not counted. */
async function ask(
  http: HttpClient,
  { name, query }: SamplesPeer,
  question: PromqlQuestion,
): Promise<{ ms: number; points: Points }> {
  const { start, end, step } = question;
  const times = step === 0 ? { time: end } : { start, end, step };
  // VictoriaMetrics would move the times to multiples of the step and keep answers.
  const asked = Object.entries({ query: question.query, ...times, nocache: 1 });
  const body = new URLSearchParams(asked.map(([key, value]) => [key, String(value)])).toString();
  const headers = { ...query.headers, 'content-type': 'application/x-www-form-urlencoded' };
  const startedAt = performance.now();
  const answer = await http.send(step === 0 ? query.url : `${query.url}_range`, {
    method: 'POST',
    headers,
    body,
  });
  const ms = performance.now() - startedAt;
  if (answer.status !== 200) {
    console.error(`bench: ${name} cannot answer ${question.query}: ${answer.text}`);
    return { ms: Infinity, points: new Map() };
  }
  const { result } = answer.json<Answer>().data;
  const points = result.map(({ metric, value, values = [] }) => {
    const labels = Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1));
    return [JSON.stringify(labels), value === undefined ? values : [value]] as const;
  });
  return { ms, points: new Map(points) };
}

/** Largest relative difference of values; NaN unless series and times are the same. */
export function differenceOf(left: Points, right: Points): number {
  if (left.size !== right.size) return Number.NaN;
  let largest = 0;
  for (const [labels, points] of left) {
    const others = right.get(labels);
    if (others?.length !== points.length) return Number.NaN;
    for (const [i, [time, text]] of points.entries()) {
      const [otherTime, otherText] = others[i]!;
      if (time !== otherTime) return Number.NaN;
      const [value, other] = [Number(text), Number(otherText)];
      const scale = Math.max(Math.abs(value), Math.abs(other));
      if (scale > 0) largest = Math.max(largest, Math.abs(value - other) / scale);
    }
  }
  return largest;
}
