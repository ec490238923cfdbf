/** Request bodies for each connection of the load generator, in the format of the receiver. */
import { compressSync } from 'snappy';
import { type Body, createCorpus, stampBody } from './corpus.ts';
import {
  chunk,
  toBulk,
  toForward,
  toGelf,
  toHec,
  toInflux,
  toJournal,
  toLines,
  toLoki,
  toLokiProtobuf,
  toStatsd,
  toSyslog,
} from './log-forms.ts';
import { createMetricCorpus, toExposition } from './metric-corpus.ts';
import { toGrpc, toOtlpJson, toOtlpMetrics, toOtlpProtobuf } from './otlp-bodies.ts';

/** Forms of other log systems, of the same logs. */
const otherForms = {
  lines: { contentType: 'application/x-ndjson', toForm: toLines },
  loki_json: { contentType: 'application/json', toForm: toLoki },
  loki_protobuf: {
    contentType: 'application/x-protobuf',
    toForm: (body: Body) => {
      const form = toLokiProtobuf(body);
      return { ...form, bytes: compressSync(form.bytes) };
    },
  },
  elasticsearch: { contentType: 'application/x-ndjson', toForm: toBulk },
  splunk_hec: { contentType: 'application/json', toForm: toHec },
  datadog: { contentType: 'application/json', toForm: (body: Body) => body },
  gelf: { contentType: 'application/json', toForm: toGelf },
  journald: { contentType: 'application/vnd.fdo.journal', toForm: toJournal },
  influx: { contentType: 'text/plain', toForm: toInflux },
  syslog: { contentType: undefined, toForm: toSyslog },
  forward: { contentType: undefined, toForm: toForward },
  statsd: { contentType: undefined, toForm: toStatsd },
} as const;
export type OtherForm = keyof typeof otherForms;

export type LoadForm =
  | OtherForm
  | 'json_logs'
  | 'otlp_json'
  | 'otlp_protobuf'
  | 'otlp_grpc'
  | 'otlp_metrics'
  | 'remote_write'
  | 'prom_text';

export interface LoadShape {
  readonly seed: number;
  readonly form: LoadForm;
  readonly connections: number;
  /** Logs: number of bodies. Metrics: number of series. */
  readonly bodies: number;
  readonly eventsPerBody: number;
  /** Times of logs, in order, for so many events; absent = now. */
  readonly past?: { readonly startMs: number; readonly endMs: number; readonly events: number };
}

export interface Sendable {
  readonly bytes: Buffer;
  readonly events: number;
}

/** The next body; its bytes may change with the next call. */
export type Source = () => Sendable;

export function headersOf(form: LoadForm): readonly string[] {
  if (!isOther(form)) return headers[form];
  const { contentType } = otherForms[form];
  return contentType === undefined ? [] : [`Content-Type: ${contentType}`];
}

function isOther(form: LoadForm): form is OtherForm {
  return form in otherForms;
}

const headers: Readonly<Record<Exclude<LoadForm, OtherForm>, readonly string[]>> = {
  json_logs: ['Content-Type: application/json'],
  otlp_json: ['Content-Type: application/json'],
  otlp_protobuf: ['Content-Type: application/x-protobuf'],
  otlp_grpc: [],
  otlp_metrics: ['Content-Type: application/x-protobuf'],
  remote_write: ['Content-Type: application/x-protobuf', 'Content-Encoding: snappy'],
  prom_text: ['Content-Type: text/plain; version=0.0.4'],
};

/** @returns one source per connection. */
export function createSources(shape: LoadShape): Source[] {
  if (isOther(shape.form)) return otherSources(shape, otherForms[shape.form].toForm);
  switch (shape.form) {
    case 'json_logs':
      return logSources(shape, (body) => body);
    case 'otlp_json':
      return logSources(shape, toOtlpJson);
    case 'otlp_protobuf':
      return logSources(shape, toOtlpProtobuf);
    case 'otlp_grpc':
      return logSources(shape, (body) => toGrpc(toOtlpProtobuf(body)));
    case 'otlp_metrics':
    case 'remote_write':
    case 'prom_text':
      return Array.from({ length: shape.connections }, (_, index) => metricSource(shape, index));
  }
}

function otherSources(shape: LoadShape, toForm: (body: Body) => Body): Source[] {
  let sent = 0;
  return logSources(
    shape,
    (body) => {
      stampBody(body, Date.now());
      return toForm(body);
    },
    ({ bytes }) => {
      if (shape.form !== 'forward') return;
      // A chunk that was sent before would be recognised.
      const digits = String((sent += 1)).padStart(14, '0');
      bytes.write(digits, bytes.lastIndexOf(chunk.slice(0, 12)) + 12);
    },
  );
}

function logSources(
  shape: LoadShape,
  toForm: (body: Body) => Body,
  prepare?: (body: Body) => void,
): Source[] {
  const { seed, connections, eventsPerBody } = shape;
  const bodies = createCorpus(seed, shape.bodies, eventsPerBody).bodies.map(toForm);
  const share = Math.floor(bodies.length / connections);
  return Array.from({ length: connections }, (_, index) => {
    const own = bodies.slice(index * share, (index + 1) * share);
    const now = createClock(shape);
    return takeTurns(own, prepare ?? ((body) => stampBody(body, now())));
  });
}

/** Of one connection. */
function createClock({ past, connections, eventsPerBody }: LoadShape): () => number {
  if (past === undefined) return Date.now;
  const { startMs, endMs, events } = past;
  const stepMs = ((endMs - startMs) * connections * eventsPerBody) / events;
  let sent = 0;
  return () => Math.min(Math.round(startMs + stepMs * sent++), endMs);
}

/** Samples begin half a day in the past, 15 s apart, so that none is in the future. */
const historyMs = 12 * 60 * 60 * 1000;
/** Pushes with different values. */
const expositions = 8;

function metricSource(shape: LoadShape, connection: number): Source {
  const corpus = createMetricCorpus({
    seed: shape.seed + connection,
    series: Math.floor(shape.bodies / shape.connections),
    samplesPerRequest: shape.eventsPerBody,
    startMs: Date.now() - historyMs,
    intervalMs: 15_000,
  });
  if (shape.form === 'remote_write') {
    return () => {
      const { body, samples } = corpus.next();
      return { bytes: body, events: samples };
    };
  }
  const scrapes = <Scrape>(encode: () => Scrape) =>
    Array.from({ length: expositions }, () => {
      for (let part = 0; part < corpus.requestsPerRound; part += 1) corpus.next();
      return encode();
    });
  if (shape.form === 'otlp_metrics') {
    const bodies = scrapes(() => toOtlpMetrics(corpus.series));
    return takeTurns(bodies, (body) => stampBody(body, Date.now()));
  }
  const events = corpus.series.length;
  const pushes = scrapes(() => ({ bytes: toExposition(corpus.series, 'text'), events }));
  return takeTurns(pushes, () => {});
}

function takeTurns<Item extends Sendable>(items: readonly Item[], prepare: (item: Item) => void) {
  let turn = 0;
  return () => {
    const item = items[turn++ % items.length];
    if (item === undefined) throw new Error('a sender needs a body');
    prepare(item);
    return item;
  };
}
