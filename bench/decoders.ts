/** Each decoder by itself, one thread, on the bodies of the load generator. */
import { configSchema } from '../src/config/schema.ts';
import { createSeriesLedger } from '../src/ingest/series-ledger.ts';
import type { BodyFormat, Protocol } from '../src/model/protocol.ts';
import { createDatadog } from '../src/protocols/json-logs/datadog/datadog.ts';
import { createElasticsearch } from '../src/protocols/json-logs/elasticsearch/elasticsearch.ts';
import { createForward } from '../src/protocols/json-logs/forward/forward.ts';
import { createGelf } from '../src/protocols/json-logs/gelf/gelf.ts';
import { createJsonLogs } from '../src/protocols/json-logs/json-logs.ts';
import { createLines } from '../src/protocols/json-logs/lines.ts';
import { createLoki } from '../src/protocols/json-logs/loki/loki.ts';
import { createSplunkHec } from '../src/protocols/json-logs/splunk/hec.ts';
import { createSyslog } from '../src/protocols/json-logs/syslog/syslog.ts';
import { createOtlpMetrics } from '../src/protocols/otlp/metrics/otlp-metrics.ts';
import { createOtlpHttp } from '../src/protocols/otlp/otlp-logs.ts';
import { createPromText } from '../src/protocols/prom-text/prom-text.ts';
import { createRemoteWrite } from '../src/protocols/remote-write/remote-write.ts';
import type { Batch } from '../src/model/batch.ts';
import { transformSchema } from '../src/transform/spec.ts';
import { createTransformer } from '../src/transform/transform-batch.ts';
import { type Ceiling, measureDecoder, measureJsonParse } from './ceiling.ts';
import { type Body, createCorpus } from './corpus.ts';
import { toBulk, toForward, toGelf, toHec, toLines, toLoki, toSyslog } from './log-forms.ts';
import { createMetricCorpus, type TextFormat, toExposition } from './metric-corpus.ts';
import { toOtlpJson, toOtlpMetrics, toOtlpProtobuf } from './otlp-bodies.ts';

const steps = [
  { type: 'parse', format: 'json' },
  { type: 'redact', kinds: ['card', 'email', 'token'] },
];
const owner = { accountId: 'a', streamId: 's', receiverId: 'r' };

export async function measureDecoders(
  seed: number,
  seconds: number,
): Promise<Readonly<Record<string, Ceiling>>> {
  const config = configSchema.parse({});
  const jsonLogs = createJsonLogs(config);
  const otlpLogs = createOtlpHttp(config);
  const promText = createPromText(config);
  const [otlpMetrics] = createOtlpMetrics(config);
  const [remoteWrite] = createRemoteWrite(config);
  const [splunkEvents] = createSplunkHec(config);
  const logs = createCorpus(seed, 32, 1000).bodies;
  const protobuf = 'application/x-protobuf';
  const decode = createDecode(jsonLogs, 'application/json');
  const transform = createTransformer();
  const decodeAndTransform = async (body: Buffer) =>
    transform((await decode(body)) as Batch, transformSchema.parse(steps));
  const alone = (protocol: Protocol, mediaType: string, bodies: readonly Body[]) =>
    measureDecoder(bodies, seconds, createDecode(protocol, mediaType));
  return {
    'JSON.parse only': await measureJsonParse(logs, seconds),
    'plain JSON': await alone(jsonLogs, 'application/json', logs),
    'plain JSON, parsed and redacted': await measureDecoder(logs, seconds, decodeAndTransform),
    'lines of JSON': await alone(createLines(config), 'application/x-ndjson', logs.map(toLines)),
    'Loki JSON': await alone(createLoki(config), 'application/json', logs.map(toLoki)),
    Datadog: await alone(createDatadog(config), 'application/json', logs),
    'Elasticsearch bulk': await alone(
      createElasticsearch(config)[0],
      'application/x-ndjson',
      logs.map(toBulk),
    ),
    'Splunk HEC': await alone(splunkEvents, 'application/json', logs.map(toHec)),
    GELF: await alone(createGelf(config), 'application/json', logs.map(toGelf)),
    syslog: await alone(createSyslog(config), 'application/syslog', logs.map(toSyslog)),
    'Fluent Forward': await alone(
      createForward(config),
      'application/msgpack',
      logs.map(toForward),
    ),
    'OTLP protobuf': await alone(otlpLogs, protobuf, logs.map(toOtlpProtobuf)),
    'OTLP JSON': await alone(otlpLogs, 'application/json', logs.map(toOtlpJson)),
    'remote_write, inflated': await alone(remoteWrite, protobuf, writeRequests(seed)),
    'metrics as OTLP protobuf': await alone(otlpMetrics, protobuf, otlpPoints(seed)),
    'text 0.0.4': await alone(promText, 'text/plain', expositions(seed, 'text')),
    OpenMetrics: await alone(
      promText,
      'application/openmetrics-text',
      expositions(seed, 'openmetrics'),
    ),
  };
}

function createDecode(protocol: Protocol, mediaType: string): (body: Buffer) => unknown {
  const format: BodyFormat = { mediaType, parameters: new Map(), coding: 'identity' };
  const ledger = createSeriesLedger({ maxSeriesPerAccount: 1_000_000 });
  const { limits } = protocol;
  return async (body) => {
    const nowMs = Date.now();
    const claim = ledger.claim(owner, nowMs);
    const batch = await protocol.decode(body, format, { limits, nowMs, series: claim });
    claim.confirm();
    return batch;
  };
}

const series = { series: 10_000, samplesPerRequest: 2000, intervalMs: 15_000 };

/** The five requests of a round; decoders do not depend on values changing. */
function writeRequests(seed: number): Body[] {
  const corpus = createMetricCorpus({ seed, ...series, startMs: Date.now() - 3_600_000 });
  return Array.from({ length: corpus.requestsPerRound }, () => {
    const { message, samples } = corpus.next();
    return { bytes: Buffer.from(message), events: samples, timeForm: 'iso', times: [] };
  });
}

/** A point of each series, 2,000 in a request. */
function otlpPoints(seed: number): Body[] {
  const corpus = createMetricCorpus({ seed, ...series, startMs: Date.now() - 3_600_000 });
  return Array.from({ length: corpus.requestsPerRound }, (_, part) => {
    const { samplesPerRequest } = series;
    const from = part * samplesPerRequest;
    return toOtlpMetrics(corpus.series.slice(from, from + samplesPerRequest));
  });
}

/** One push of all series: about 1.5 MB. */
function expositions(seed: number, format: TextFormat): Body[] {
  const corpus = createMetricCorpus({ seed, ...series, startMs: Date.now() - 3_600_000 });
  const bytes = toExposition(corpus.series, format);
  return [{ bytes, events: corpus.series.length, timeForm: 'iso', times: [] }];
}
