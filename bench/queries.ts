/**
 * Reads over many rows. Each repetition differs, so that no cache of results or conditions helps.
 */
import type { Parameters, Service } from '../test/harness/service.ts';
import { type Percentiles, percentilesOf } from './percentiles.ts';
import { cpuSeconds } from './processes.ts';

export interface QueryFigures {
  readonly name: string;
  readonly ms: Percentiles;
  /** CPU time of gateway and engine for each round, background work included. */
  readonly cpuMs: number;
}

interface Query {
  readonly name: string;
  readonly path: string;
  readonly toParameters: (round: number) => Parameters;
}

export interface QuerySpan {
  /** Unix ms of the oldest and newest event. */
  readonly startMs: number;
  readonly endMs: number;
  /** Words that occur in one message of the corpus, so in one of 128,000. */
  readonly needles: readonly string[];
  /** Words that occur in one log, in its message and its label `probe`. */
  readonly probes: readonly string[];
}

/** A query that takes longer for all its rounds has fewer. */
const slowMs = 8_000;
const fewRounds = 5;

export async function measureQueries(
  service: Service,
  span: QuerySpan,
  rounds: number,
): Promise<QueryFigures[]> {
  const requestIds = await sampleRequestIds(service, span, rounds);
  return [
    ...(await measureAll(service, listQueries(span, requestIds), rounds)),
    ...(await measureQuestions(service, span, rounds)),
  ];
}

/** Of labels and messages. */
export function measureQuestions(
  service: Service,
  span: Pick<QuerySpan, 'startMs' | 'endMs'>,
  rounds: number,
): Promise<QueryFigures[]> {
  return measureAll(service, listQuestions(span), rounds);
}

async function measureAll(
  service: Service,
  queries: readonly Query[],
  rounds: number,
): Promise<QueryFigures[]> {
  const figures: QueryFigures[] = [];
  for (const query of queries) {
    const times: number[] = [];
    const begunAt = performance.now();
    const cpuBefore = cpuSecondsOf(service);
    let asked = 0;
    for (let round = -2; round < rounds; round++) {
      const isSlow = performance.now() - begunAt > slowMs;
      if (isSlow && round >= fewRounds) break;
      const startedAt = performance.now();
      const answer = await service.read(query.path, query.toParameters(round + 2));
      if (answer.status !== 200) throw new Error(`cannot measure ${query.name}: ${answer.text}`);
      asked += 1;
      if (round >= 0) times.push(performance.now() - startedAt);
    }
    const cpuMs = ((cpuSecondsOf(service) - cpuBefore) * 1000) / asked;
    figures.push({ name: query.name, ms: percentilesOf(times), cpuMs });
  }
  return figures;
}

function cpuSecondsOf(service: Service): number {
  return [service.process.pid, ...service.enginePids()].reduce(
    (sum, pid) => sum + cpuSeconds(pid),
    0,
  );
}

function listQueries(span: QuerySpan, requestIds: readonly string[]): Query[] {
  const { range, bounds } = rangesOf(span);
  return [
    { name: 'list, first page of 100', path: '/logs', toParameters: () => ({ limit: 100 }) },
    {
      name: 'list, first page of one service',
      path: '/logs',
      toParameters: (round) => ({ limit: 100, serviceName: serviceName(round) }),
    },
    {
      name: 'search, rare substring (one log), whole range',
      path: '/logs',
      toParameters: (round) => ({ ...bounds(round), search: pick(span.probes, round).slice(3) }),
    },
    {
      name: 'search, substring of one log in 128,000, whole range',
      path: '/logs',
      toParameters: (round) => ({ ...bounds(round), search: pick(span.needles, round).slice(3) }),
    },
    {
      name: 'search, two common words',
      path: '/logs',
      toParameters: (round) => ({ ...bounds(round), search: 'accepted basket' }),
    },
    {
      name: 'label filter (one log), whole range',
      path: '/logs',
      toParameters: (round) => ({ ...bounds(round), label: `probe:${pick(span.probes, round)}` }),
    },
    {
      name: 'label filter, one log in 128,000, whole range',
      path: '/logs',
      toParameters: (round) => ({
        ...bounds(round),
        label: `request_id:${pick(requestIds, round)}`,
      }),
    },
    {
      name: 'histogram, 60 buckets, whole range',
      path: '/histogram',
      toParameters: (round) => ({ ...range(round), buckets: 60 }),
    },
    {
      name: 'histogram of one severity',
      path: '/histogram',
      toParameters: (round) => ({ ...range(round), buckets: 60, severity: 'ERROR' }),
    },
    {
      name: 'facet by service',
      path: '/facets',
      toParameters: (round) => ({ ...bounds(round), field: 'service' }),
    },
    {
      name: 'facets by severity, host and service',
      path: '/facets/batch',
      toParameters: (round) => ({ ...bounds(round), fields: 'severity,host,service' }),
    },
  ];
}

/** Over all logs. */
function listQuestions(span: Pick<QuerySpan, 'startMs' | 'endMs'>): Query[] {
  const { range, bounds } = rangesOf(span);
  const stepSeconds = Math.max(1, Math.ceil((span.endMs - span.startMs) / 60_000));
  const middleMs = Math.round((span.startMs + span.endMs) / 2);
  const ofServices = { stat: 'p95(label.status)', by: 'service' };
  return [
    {
      name: 'facet by a label',
      path: '/facets',
      toParameters: (round) => ({ ...bounds(round), field: 'label.version' }),
    },
    {
      name: 'histogram by a label, 60 buckets',
      path: '/histogram',
      toParameters: (round) => ({ ...range(round), buckets: 60, groupBy: 'label.status' }),
    },
    {
      name: 'p95 of a label by service, 60 steps',
      path: '/stats',
      toParameters: (round) => ({ ...range(round), ...ofServices, step: `${stepSeconds}s` }),
    },
    {
      name: 'values of a label by prefix',
      path: '/fields/label.version/values',
      toParameters: (round) => ({ ...bounds(round), prefix: `1.${round % 10}` }),
    },
    { name: 'patterns', path: '/patterns', toParameters: (round) => bounds(round) },
    {
      name: 'compare, one half with the other',
      path: '/compare',
      toParameters: (round) => ({ ...bounds(round), sinceTime: middleMs }),
    },
    {
      name: 'compare of a rare phrase',
      path: '/compare',
      toParameters: (round) => ({
        ...bounds(round),
        sinceTime: middleMs,
        search: `"for customer ${4_000 + round}"`,
      }),
    },
  ];
}

function rangesOf(span: Pick<QuerySpan, 'startMs' | 'endMs'>) {
  // A range a few ms shorter each time selects the same rows by other conditions.
  const range = (round: number) => ({
    startTime: span.startMs - round,
    endTime: span.endMs + round,
  });
  const bounds = (round: number) => ({
    sinceTime: span.startMs - round,
    untilTime: span.endMs + round,
  });
  return { range, bounds };
}

/** Label values of logs spread over the whole range. */
async function sampleRequestIds(
  service: Service,
  span: QuerySpan,
  rounds: number,
): Promise<string[]> {
  const found: string[] = [];
  for (let round = 0; round < rounds + 2; round++) {
    const untilTime = span.startMs + ((round + 1) * (span.endMs - span.startMs)) / (rounds + 2);
    const { logs } = await service.list({ untilTime: Math.ceil(untilTime) + 1, limit: 1 });
    const id = logs[0]?.labels['request_id'];
    if (id !== undefined) found.push(id);
  }
  return found;
}

function serviceName(round: number): string {
  const nouns = [
    'order',
    'session',
    'invoice',
    'payment',
    'basket',
    'shipment',
    'profile',
    'token',
  ];
  return `${pick(nouns, round)}-service-${round % nouns.length}`;
}

function pick(items: readonly string[], round: number): string {
  return items[round % items.length] ?? 'nothing';
}
