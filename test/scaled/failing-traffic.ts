/**
 * Continuous requests of every kind by senders and readers, with their outcomes and a ledger of
 * acknowledgements. Independent of the injected faults.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerEntry } from '../crash/ledger.ts';
import { eventName, type Mode, type SenderLedger } from '../crash/verdict.ts';
import { sampleName, type WireName, wires } from '../crash/wires.ts';
import type { Answer } from '../harness/http.ts';
import { postRead } from '../harness/metrics.ts';
import type { Quickstart } from '../harness/quickstart.ts';
import type { Service } from '../harness/service.ts';

/**
 * Outcome of a request: status (gRPC: 200 or 503), `empty` for a success without expected content,
 * `broken` for a broken connection, `hung` for no response.
 */
export interface Outcome {
  readonly name: string;
  readonly end: number | 'empty' | 'broken' | 'hung';
  /** `Retry-After`; absent for gRPC. */
  readonly retryAfter?: string | undefined;
  readonly seconds: number;
}

/**
 * Maximum time without a response, whatever is unavailable. Above the time limit of a read: reads
 * yield the CPU, so a busy machine delays them.
 */
const longestMs = 60_000;
const eventsPerRequest = 4;

export interface Sender {
  readonly name: string;
  readonly ledger: SenderLedger;
  send(): Promise<Outcome>;
}

const senderKinds: readonly (readonly [WireName, Mode])[] = [
  ['json_logs', 'plain'],
  ['json_logs', 'keyed'],
  ['otlp_protobuf', 'plain'],
  ['otlp_grpc', 'plain'],
  ['remote_write', 'idempotent'],
];

/** One sender of each kind. @param receivers instead of the first run's */
export function createSenders(
  service: Service,
  receivers: Quickstart['receivers'] = service.quickstart.receivers,
  firstNumber = 0,
): readonly Sender[] {
  return senderKinds.map(([wire, mode], index) =>
    createSender(service, receivers, { wire, mode, number: firstNumber + index }),
  );
}

interface SenderKind {
  readonly wire: WireName;
  readonly mode: Mode;
  readonly number: number;
}

function createSender(
  service: Service,
  receivers: Quickstart['receivers'],
  { wire, mode, number }: SenderKind,
): Sender {
  const name = `${wire} ${mode}`;
  const entries = new Map<number, LedgerEntry>();
  const ca = readFileSync(service.quickstart.caFile, 'utf8');
  /** Requests to retry, with their keys. */
  const unsettled: number[] = [];
  let next = 0;

  async function send(): Promise<Outcome> {
    const request = unsettled.shift() ?? next++;
    const names = Array.from({ length: eventsPerRequest }, (_, i) => eventName(number, request, i));
    const entry = entries.get(request) ?? { request, events: names.length, attempts: 0, acks: 0 };
    entry.attempts += 1;
    entries.set(request, entry);
    let last: Answer | undefined;
    const http = {
      ...service.http,
      send: async (...call: Parameters<typeof service.http.send>) =>
        (last = await service.http.send(...call)),
    };
    const key = mode === 'keyed' ? `${number}-${request}` : undefined;
    const target = { quickstart: { ...service.quickstart, receivers }, ca, http };
    const outcome = await toOutcome(name, async () => {
      const answer = await wires[wire](target, { request, names, key });
      if (answer === 'taken') entry.acks += 1;
      return { end: answer === 'taken' ? 200 : 503, retryAfter: last?.headers['retry-after'] };
    });
    if (outcome.end !== 200 && mode !== 'plain') unsettled.push(request);
    return outcome;
  }

  return { name, ledger: { sender: number, mode, entries }, send };
}

export interface Reader {
  readonly name: string;
  read(): Promise<Outcome>;
}

/** Every kind of read; logs and samples must exist. */
export function createReaders(service: Service): readonly Reader[] {
  const recent = () => ({
    startTime: new Date(Date.now() - 3_600_000).toISOString(),
    endTime: new Date(Date.now() + 60_000).toISOString(),
    buckets: 10,
  });
  const series = [{ name: '__name__', type: '=', value: sampleName }] as const;
  const ever = { fromMs: 0, untilMs: 4_102_444_800_000 };
  const hasTotal = (answer: Answer) => answer.json<{ total: number }>().total > 0;
  return [
    reader('list', () => service.read('/logs', { limit: 1 }), /"message"/),
    reader('histogram', () => service.read('/histogram', recent()), hasTotal),
    reader('facets', () => service.read('/facets', { field: 'severity' }), hasTotal),
    reader(
      'batch facets',
      () => service.read('/facets/batch', { fields: 'severity,host' }),
      (answer) => answer.json<{ facets: { total: number }[] }>().facets.every((f) => f.total > 0),
    ),
    reader('export', () => service.read('/logs/export', { limit: 2 }), /"message"/),
    reader(
      'remote read',
      () => postRead(service, [{ matchers: series, ...ever }]),
      ({ bytes }) => bytes.length > 50,
    ),
  ];
}

/** The control API. */
export function createControls(service: Service): readonly Reader[] {
  return [
    reader('receivers', () => service.admin('GET', '/receivers'), /"receiverId"/),
    reader('tokens', () => service.admin('GET', '/tokens'), /"tokenId"/),
  ];
}

function reader(
  name: string,
  ask: () => Promise<Answer>,
  isWhole: RegExp | ((answer: Answer) => boolean),
): Reader {
  const read = () =>
    toOutcome(name, async () => {
      const answer = await ask();
      const { status, text, headers } = answer;
      const isFull =
        isWhole instanceof RegExp ? isWhole.test(text) : status !== 200 || isWhole(answer);
      const isEmpty = status === 200 && !isFull;
      return { end: isEmpty ? 'empty' : status, retryAfter: headers['retry-after'] };
    });
  return { name, read };
}

/** Runs one request with the maximum timeout. */
export async function toOutcome(
  name: string,
  run: () => Promise<Pick<Outcome, 'end' | 'retryAfter'>>,
): Promise<Outcome> {
  const startedAt = performance.now();
  const enough = new AbortController();
  const hung = sleep(longestMs, { end: 'hung' } as const, { signal: enough.signal });
  hung.catch(() => undefined);
  const ended = await Promise.race([run().catch(toBroken), hung]);
  enough.abort();
  return { name, ...ended, seconds: (performance.now() - startedAt) / 1000 };
}

/** @throws errors other than of the connection */
function toBroken(error: unknown): Pick<Outcome, 'end'> {
  const { code, cause } = error as NodeJS.ErrnoException;
  const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? code ?? '';
  if (/^E(?:CONN|PIPE)|^ERR_HTTP2_/.test(reason)) return { end: 'broken' };
  throw error;
}

/** All senders and readers continuously, until stopped. */
export interface Background {
  /** Outcomes other than success or 503 with its header. */
  readonly odd: readonly Outcome[];
  stop(): Promise<void>;
}

export function startBackground(
  senders: readonly Sender[],
  readers: readonly Reader[],
): Background {
  const odd: Outcome[] = [];
  let isStopping = false;
  const repeat = async (work: () => Promise<Outcome>, pauseMs: number) => {
    while (!isStopping) {
      const outcome = await work();
      if (!isOrderly(outcome)) odd.push(outcome);
      await sleep(pauseMs);
    }
  };
  const all = [
    ...senders.map((sender) => repeat(() => sender.send(), 50)),
    ...readers.map((each) => repeat(() => each.read(), 200)),
  ];
  return {
    odd,
    async stop() {
      isStopping = true;
      await Promise.all(all);
    },
  };
}

/** Success, or 503 with a delay. gRPC has it in its details. */
export function isOrderly({ name, end, retryAfter }: Outcome): boolean {
  if (end === 503) return name.startsWith('otlp_grpc') || /^[1-5]$/.test(retryAfter ?? '');
  return end === 200;
}
