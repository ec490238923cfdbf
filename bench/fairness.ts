/**
 * `npm run bench -- --fairness`: latency of a light list of one account beside heavy queries of
 * another, in one run on one machine.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Parameters, type Service, startService } from '../test/harness/service.ts';
import { openTenant, type Tenant } from '../test/harness/tenant.ts';
import { fill } from './ingest.ts';
import { type Load, startLoad } from './load.ts';
import { describeMachine } from './machine.ts';
import { type Percentiles, percentilesOf } from './percentiles.ts';
import { drained, indexed } from './service-gauge.ts';

export interface FairnessOptions {
  readonly seed: number;
  /** Logs of the heavy account. */
  readonly rows: number;
  /** Maximum of light lists per phase. */
  readonly samples: number;
}

const heavyAtOnce = 8;
const lightLogs = 50_000;
const pauseMs = 50;
/** Maximum duration of a phase. */
const maxPhaseMs = 120_000;
const fields =
  'severity,host,service,serviceNamespace,stream,' +
  'k8sCluster,k8sNamespace,k8sNode,k8sPod,k8sDeployment';

interface Phase {
  readonly name: string;
  readonly light: Percentiles;
  /** Timeout of a heavy query. */
  readonly heavy: Percentiles | undefined;
  readonly heavyPerSecond: number;
  readonly refused: number;
}

export async function benchFairness(options: FairnessOptions): Promise<void> {
  const weir = await startService();
  try {
    const light = await fillBoth(weir, options);
    const phases = [
      await measure(weir, light, { name: 'nothing', heavyAtOnce: 0, ...options }),
      await measure(weir, light, { name: 'one at a time', heavyAtOnce: 1, ...options }),
      await measure(weir, light, { name: `${heavyAtOnce} at once`, heavyAtOnce, ...options }),
    ];
    console.log(toMarkdown(phases, options));
  } finally {
    await weir.stop();
  }
}

/** @returns the light account; the heavy one is that of the first run. */
async function fillBoth(weir: Service, { seed, rows }: FairnessOptions): Promise<Tenant> {
  say(`fill up to ${rows} rows`);
  const load = heavyLoad(weir, seed);
  await load.opened;
  await fill(weir, load, rows);
  const light = await openTenant(weir, 'light');
  const events = Array.from({ length: 1_000 }, (_, i) => ({ message: `request ${i} served` }));
  for (let sent = 0; sent < lightLogs; sent += events.length) {
    const answer = await light.postLogs(events);
    if (answer.status !== 202) throw new Error(`cannot fill: ${answer.text}`);
  }
  await drained(weir);
  await load.stop();
  await indexed(weir);
  return light;
}

interface Asked extends FairnessOptions {
  readonly name: string;
  readonly heavyAtOnce: number;
}

async function measure(weir: Service, light: Tenant, asked: Asked): Promise<Phase> {
  say(`light lists beside heavy questions: ${asked.name}`);
  const heavyMs: number[] = [];
  let refused = 0;
  let isOver = false;
  const askHeavy = async (asker: number) => {
    for (let round = 0; !isOver; round += 1) {
      const question = heavyQuestion(asker, round);
      const startedAt = performance.now();
      const answer = await weir.read(question.path, question.parameters);
      if (answer.status === 200) heavyMs.push(performance.now() - startedAt);
      else refused += 1;
    }
  };
  const startedAt = performance.now();
  const asking = Array.from({ length: asked.heavyAtOnce }, (_, asker) => askHeavy(asker));
  if (asked.heavyAtOnce > 0) await sleep(2_000);
  const lightMs: number[] = [];
  const endsAt = performance.now() + maxPhaseMs;
  while (lightMs.length < asked.samples && performance.now() < endsAt) {
    const sentAt = performance.now();
    const answer = await light.read('/logs', { limit: 100 });
    if (answer.status !== 200) throw new Error(`cannot list: ${answer.text}`);
    lightMs.push(performance.now() - sentAt);
    await sleep(pauseMs);
  }
  isOver = true;
  const seconds = (performance.now() - startedAt) / 1000;
  const answered = heavyMs.length;
  await Promise.all(asking);
  return {
    name: asked.name,
    light: percentilesOf(lightMs),
    heavy: answered === 0 ? undefined : percentilesOf(heavyMs),
    heavyPerSecond: answered / seconds,
    refused,
  };
}

/** Each scans the messages of all logs, and no two are equal. */
function heavyQuestion(asker: number, round: number): { path: string; parameters: Parameters } {
  // Digits that occur in most messages, so that no index helps.
  const search = `${(asker * 7 + round) % 10}${round % 10} customer`;
  const startTime = Date.now() - 86_400_000 - round;
  const endTime = Date.now() + 60_000;
  switch (asker % 3) {
    case 0:
      return { path: '/facets/batch', parameters: { fields, search, startTime, endTime } };
    case 1: {
      const buckets = { buckets: 500, groupBy: 'severity' };
      return { path: '/histogram', parameters: { ...buckets, search, startTime, endTime } };
    }
    default: {
      const nowhere = `${search} ${round} nowhere at all`;
      return { path: '/logs', parameters: { search: nowhere, startTime, endTime } };
    }
  }
}

function heavyLoad(weir: Service, seed: number): Load {
  const { caFile, receivers } = weir.quickstart;
  const { url, token } = receivers.http_json;
  const shape = { connections: 16, bodies: 128, eventsPerBody: 1_000 };
  return startLoad({
    seed,
    form: 'json_logs',
    ca: readFileSync(caFile, 'utf8'),
    url,
    token,
    ...shape,
  });
}

function toMarkdown(phases: readonly Phase[], { rows, seed }: FairnessOptions): string {
  const alone = phases[0]?.light.p95 ?? Number.NaN;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const head = [
    'heavy questions of another account',
    'light list p50 / p95 / max',
    'p95 as a multiple',
    'heavy questions p50 / p95',
    'answered / refused',
  ];
  return [
    `\`npm run bench -- --fairness --rows ${rows} --seed ${seed}\` on ${describeMachine()}, ` +
      `${new Date().toISOString().slice(0, 10)}.`,
    '',
    line(head),
    line(head.map(() => '---')),
    ...phases.map(({ name, light, heavy, heavyPerSecond, refused }) =>
      line([
        name,
        `${ms(light.p50)} / ${ms(light.p95)} / ${ms(light.max)}`,
        `× ${(light.p95 / alone).toFixed(1)}`,
        heavy === undefined ? '' : `${ms(heavy.p50)} / ${ms(heavy.p95)}`,
        heavy === undefined ? '' : `${heavyPerSecond.toFixed(2)}/s / ${refused}`,
      ]),
    ),
    '',
  ].join('\n');
}

const ms = (value: number) => `${value.toFixed(0)} ms`;

function say(phase: string): void {
  console.error(`bench: ${phase}`);
}
