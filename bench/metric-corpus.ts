/**
 * Metrics for the benchmark: scrapes of services in a cluster, 60 % counters, 25 % integer gauges
 * and 15 % random walks, as remote_write requests and as text. A seed determines every byte; each
 * round over all series is one scrape interval later.
 */
import type { Label } from '../src/model/metric-plan.ts';
import { createRandom, type Random } from '../test/harness/random.ts';
import { type Gap, toSnappyForm, varint } from './snappy-form.ts';

export interface MetricCorpusOptions {
  readonly seed: number;
  readonly series: number;
  /** One sample per series; the last request of a round may have fewer. */
  readonly samplesPerRequest: number;
  /**
   * Unix ms of the first scrape, 2^35 to 2^42 (1971 to 2109), so that its varint has a fixed
   * length.
   */
  readonly startMs: number;
  readonly intervalMs: number;
}

export interface MetricCorpus {
  readonly series: readonly CorpusSeries[];
  readonly requestsPerRound: number;
  /** The next request; its bytes change a round later. */
  next(): CorpusRequest;
}

export interface CorpusRequest {
  /** A `prometheus.WriteRequest`. */
  readonly message: Buffer;
  /** The same, compressed. */
  readonly body: Buffer;
  readonly samples: number;
}

export type SeriesKind = 'counter' | 'integer gauge' | 'random walk';

export interface CorpusSeries {
  readonly kind: SeriesKind;
  /** Sorted by name, about 150 bytes. */
  readonly labels: readonly Label[];
  /** Offset in ms of its target's scrapes within the interval. */
  readonly offsetMs: number;
  value: number;
  /** Change per interval, maximum or average. */
  readonly pace: number;
}

/** Series of one target, scraped together. */
const seriesPerTarget = 200;
const valueBytes = 8;
const timeBytes = 6;
/** The variable part of a sample: value, `10`, time, preceded by `09`. */
const openBytes = valueBytes + 1 + timeBytes;

export function createMetricCorpus(options: MetricCorpusOptions): MetricCorpus {
  const { samplesPerRequest, startMs, intervalMs } = options;
  const random = createRandom(options.seed);
  const series = createSeries(random, options);
  const requestsPerRound = Math.ceil(series.length / samplesPerRequest);
  const forms = Array.from({ length: requestsPerRound }, (_, part) =>
    createForm(series.slice(part * samplesPerRequest, (part + 1) * samplesPerRequest)),
  );
  let turn = 0;

  function next(): CorpusRequest {
    const form = forms[turn % requestsPerRound]!;
    const scrapedAtMs = startMs + Math.floor(turn / requestsPerRound) * intervalMs;
    turn += 1;
    const { message, body } = form;
    for (const [index, one] of form.series.entries()) {
      one.value = moved(one, random);
      const from = form.messageAt[index]!;
      message.writeDoubleLE(one.value, from);
      writeTime(message, from + valueBytes + 1, scrapedAtMs + one.offsetMs);
      message.copy(body, form.bodyAt[index], from, from + openBytes);
    }
    return { message, body, samples: form.series.length };
  }

  return { series, requestsPerRound, next };
}

export type TextFormat = 'text' | 'openmetrics';

/**
 * One exposition of the current values: grouped by family, without timestamps, with `# EOF` in
 * OpenMetrics.
 */
export function toExposition(series: readonly CorpusSeries[], format: TextFormat): Buffer {
  const families = Map.groupBy(series, ({ labels }) => labels[0]?.[1] ?? '');
  const lines: string[] = [];
  for (const [name, members] of families) {
    const isCounter = members[0]?.kind === 'counter';
    const family = isCounter && format === 'openmetrics' ? name.replace(/_total$/, '') : name;
    lines.push(`# HELP ${family} What the target counts or measures as ${family}.`);
    lines.push(`# TYPE ${family} ${isCounter ? 'counter' : 'gauge'}`);
    for (const { labels, value } of members) {
      const pairs = labels.slice(1).map(([label, word]) => `${label}="${word}"`);
      lines.push(`${name}{${pairs.join(',')}} ${value}`);
    }
  }
  if (format === 'openmetrics') lines.push('# EOF');
  return Buffer.from(`${lines.join('\n')}\n`);
}

const services = ['checkout', 'basket', 'search', 'payment', 'shipment', 'profile', 'catalogue'];
const handlers = ['/api/orders', '/api/items/:id', '/api/session', '/healthz', '/api/quotes'];
const counters = ['http_requests_total', 'grpc_server_handled_total', 'cache_operations_total'];
const gauges = ['http_requests_in_flight', 'connection_pool_open', 'queue_messages_waiting'];
const walks = ['process_cpu_utilisation_ratio', 'http_latency_seconds_average'];

function createSeries(random: Random, options: MetricCorpusOptions): CorpusSeries[] {
  const { intervalMs } = options;
  let pod: readonly Label[] = [];
  let offsetMs = 0;
  return Array.from({ length: options.series }, (_, index) => {
    if (index % seriesPerTarget === 0) {
      pod = createPod(random, index / seriesPerTarget);
      offsetMs = random.integer(0, intervalMs - 1);
    }
    return createOneSeries(random, index, pod, offsetMs);
  });
}

/** Labels shared by all series of a target. */
function createPod(random: Random, target: number): readonly Label[] {
  const service = services[target % services.length]!;
  const suffix = random.integer(0, 0x7fff_ffff).toString(36).padStart(6, '0');
  return [
    ['instance', `10.42.${target >> 8}.${target & 255}:9102`],
    ['job', 'kubernetes-pods'],
    ['namespace', `${service}-production`],
    ['pod', `${service}-7d9f8b6c5d-${suffix}`],
  ];
}

/** Of 20 series 12 are counters, 5 integer gauges and 3 random walks. */
function createOneSeries(
  random: Random,
  index: number,
  pod: readonly Label[],
  offsetMs: number,
): CorpusSeries {
  const place = index % 20;
  const kind = place < 12 ? 'counter' : place < 17 ? 'integer gauge' : 'random walk';
  const names = { counter: counters, 'integer gauge': gauges, 'random walk': walks }[kind];
  const within = Math.floor((index % seriesPerTarget) / names.length);
  const handler = handlers[within % handlers.length]!;
  const own: Label[] = [
    ['handler', handler],
    ['shard', String(Math.floor(within / handlers.length))],
  ];
  const labels = [...pod, ...own].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    kind,
    labels: [['__name__', names[index % names.length]!], ...labels],
    offsetMs,
    value: kind === 'random walk' ? random.next() : random.integer(0, 100_000),
    // From once in ten scrapes to a thousand times per scrape.
    pace: 10 ** (random.next() * 4 - 1),
  };
}

/** Value of the next scrape. */
function moved({ kind, value, pace }: CorpusSeries, random: Random): number {
  switch (kind) {
    case 'counter':
      return value + Math.floor(2 * pace * random.next() + random.next());
    case 'integer gauge':
      return Math.max(0, value + Math.round(0.1 * pace * (random.next() - 0.5)));
    case 'random walk':
      return value + 0.01 * (random.next() - 0.5);
  }
}

/** A request with values and times to fill in. */
interface Form {
  readonly series: readonly CorpusSeries[];
  readonly message: Buffer;
  readonly body: Buffer;
  /** Offsets of the variable bytes in the message and in the body. */
  readonly messageAt: readonly number[];
  readonly bodyAt: Uint32Array;
}

/** https://github.com/prometheus/prometheus/tree/main/prompb */
function createForm(series: readonly CorpusSeries[]): Form {
  const gaps: Gap[] = [];
  const pieces: Buffer[] = [];
  let length = 0;
  for (const { labels } of series) {
    const sample = Buffer.alloc(3 + openBytes);
    sample.set([0x12, 1 + openBytes, 0x09]);
    sample[3 + valueBytes] = 0x10;
    const label = labels.map(([name, value]) => field(1, [text(1, name), text(2, value)]));
    const piece = field(1, [...label, sample]);
    pieces.push(piece);
    length += piece.length;
    gaps.push({ start: length - openBytes, length: openBytes });
  }
  const message = Buffer.concat(pieces);
  const { bytes, gaps: bodyAt } = toSnappyForm(message, gaps);
  return { series, message, body: bytes, messageAt: gaps.map(({ start }) => start), bodyAt };
}

/** A length-delimited field with nested fields. */
function field(number: number, contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(content.length)]), content]);
}

function text(number: number, value: string): Buffer {
  return field(number, [Buffer.from(value)]);
}

/** A varint of fixed length, so that it can be overwritten. */
function writeTime(bytes: Buffer, start: number, unixMs: number): void {
  let rest = unixMs;
  for (let at = start; at < start + timeBytes - 1; at += 1) {
    bytes[at] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  bytes[start + timeBytes - 1] = rest;
}
