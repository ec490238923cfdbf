/**
 * `npm run bench -- --contention`: ingest beside clients that ask, and questions beside ingest, in
 * one run on one machine.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startService, type Parameters, type Service } from '../test/harness/service.ts';
import { fill, measureSustained, type IngestFigures } from './ingest.ts';
import { startLoad, type Load } from './load.ts';
import { describeMachine } from './machine.ts';
import { percentilesOf, type Percentiles } from './percentiles.ts';
import { drained, indexed } from './service-gauge.ts';

export interface ContentionOptions {
  readonly seed: number;
  /** Logs stored before the first phase. */
  readonly rows: number;
  /** Duration of each phase. */
  readonly seconds: number;
  /** Events per second that the sender offers. */
  readonly rate: number;
}

/** Clients that ask one question after another. */
const clients = 8;

interface Question {
  readonly name: string;
  readonly path: string;
  readonly toParameters: (round: number) => Parameters;
}

interface Phase {
  readonly name: string;
  readonly ingest: IngestFigures | undefined;
  /** Latency in ms of each question by name; empty if no client asks. */
  readonly questions: ReadonlyMap<string, Percentiles>;
  readonly askedPerSecond: number;
}

export async function benchContention(options: ContentionOptions): Promise<void> {
  const weir = await startService();
  try {
    const load = jsonLoad(weir, options.seed);
    await load.opened;
    say(`fill up to ${options.rows} rows`);
    await fill(weir, load, options.rows);
    await drained(weir);
    await indexed(weir);
    const phases = [
      await measure(weir, load, { ...options, name: 'one client asks', clients: 1, rate: 0 }),
      await measure(weir, load, { ...options, name: 'ingest alone', clients: 0 }),
      await measure(weir, load, { ...options, name: 'ingest, one client asks', clients: 1 }),
      await measure(weir, load, { ...options, name: `ingest, ${clients} clients ask`, clients }),
    ];
    await load.stop();
    console.log(toMarkdown(phases, options));
  } finally {
    await weir.stop();
  }
}

interface Asked extends ContentionOptions {
  readonly name: string;
  readonly clients: number;
}

async function measure(weir: Service, load: Load, asked: Asked): Promise<Phase> {
  say(asked.name);
  const times = new Map<string, number[]>();
  const questions = questionsAt(Date.now());
  let isOver = false;
  const ask = async (client: number) => {
    for (let round = 0; !isOver; round++) {
      const question = questions[(client + round) % questions.length] as Question;
      const startedAt = performance.now();
      const answer = await weir.read(question.path, question.toParameters(client * 1_000 + round));
      if (answer.status !== 200) throw new Error(`cannot ask ${question.name}: ${answer.text}`);
      const of = times.get(question.name) ?? [];
      times.set(question.name, [...of, performance.now() - startedAt]);
    }
  };
  const startedAt = performance.now();
  const asking = Promise.all(Array.from({ length: asked.clients }, (_, client) => ask(client)));
  const ingest =
    asked.rate === 0
      ? await sleep(asked.seconds * 1_000).then(() => undefined)
      : await measureSustained(weir, load, asked.seconds, asked.rate);
  isOver = true;
  await asking;
  const seconds = (performance.now() - startedAt) / 1_000;
  await drained(weir);
  const measured = [...times].map(([name, ms]) => [name, percentilesOf(ms)] as const);
  const count = measured.reduce((sum, [, ms]) => sum + ms.count, 0);
  return {
    name: asked.name,
    ingest,
    questions: new Map(measured),
    askedPerSecond: count / seconds,
  };
}

/** What an explorer asks for, and a search that reads many messages. */
function questionsAt(nowMs: number): Question[] {
  const bounds = (round: number) => ({
    sinceTime: nowMs - 86_400_000 - round,
    untilTime: nowMs + 600_000,
  });
  const range = (round: number) => ({
    startTime: nowMs - 86_400_000 - round,
    endTime: nowMs + 600_000,
  });
  return [
    { name: 'newest page', path: '/logs', toParameters: () => ({ limit: 100 }) },
    {
      name: 'absent word',
      path: '/logs',
      toParameters: (round) => ({ ...bounds(round), search: `zq${round}jx` }),
    },
    {
      name: 'histogram by severity',
      path: '/histogram',
      toParameters: (round) => ({ ...range(round), groupBy: 'severity' }),
    },
    {
      name: 'facet by service',
      path: '/facets',
      toParameters: (round) => ({ ...bounds(round), field: 'service' }),
    },
    {
      name: 'histogram of a word',
      path: '/histogram',
      toParameters: (round) => ({ ...range(round), search: `${round % 100} customer` }),
    },
  ];
}

function jsonLoad(weir: Service, seed: number): Load {
  const { caFile, receivers } = weir.quickstart;
  const { url, token } = receivers.http_json;
  const shape = { connections: 16, bodies: 128, eventsPerBody: 1_000 };
  const ca = readFileSync(caFile, 'utf8');
  return startLoad({ seed, form: 'json_logs', ca, url, token, ...shape });
}

function toMarkdown(phases: readonly Phase[], options: ContentionOptions): string {
  const { rows, seconds, rate, seed } = options;
  const names = questionsAt(0).map(({ name }) => name);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const head = ['', 'acknowledged/s', 'stored/s', 'ack p50 / p99', 'questions/s', ...names];
  const run = `--rows ${rows} --seconds ${seconds} --rate ${rate} --seed ${seed}`;
  return [
    `\`npm run bench -- --contention ${run}\` on ${describeMachine()}, ` +
      `${new Date().toISOString().slice(0, 10)}. Questions: p50 / p95.`,
    '',
    line(head),
    line(head.map(() => '---')),
    ...phases.map(({ name, ingest, questions, askedPerSecond }) =>
      line([
        name,
        ingest === undefined ? '' : ingest.eventsPerSecond.toFixed(0),
        ingest === undefined ? '' : ingest.storedPerSecond.toFixed(0),
        ingest === undefined ? '' : `${ms(ingest.ackMs.p50)} / ${ms(ingest.ackMs.p99)}`,
        questions.size === 0 ? '' : askedPerSecond.toFixed(1),
        ...names.map((of) => {
          const times = questions.get(of);
          return times === undefined ? '' : `${ms(times.p50)} / ${ms(times.p95)}`;
        }),
      ]),
    ),
    '',
  ].join('\n');
}

const ms = (value: number) => `${value.toFixed(0)} ms`;

function say(phase: string): void {
  console.error(`bench: ${phase}`);
}
