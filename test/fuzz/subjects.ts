/** Every parser of untrusted bytes, with generators of valid and nearly valid inputs. */
import { gzipSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { configSchema } from '../../src/config/schema.ts';
import { createProtocols } from '../../src/service/protocols.ts';
import type { ContentCoding } from '../../src/model/protocol.ts';
import type { Random } from '../harness/random.ts';
import { encodeLogsRequest } from '../protocols/otlp-proto.ts';
import { writeLogsJson } from '../protocols/otlp-json.ts';
import { encodeMetricsRequest, writeMetricsJson } from '../protocols/otlp-metrics.ts';
import { otlpMetrics } from './otlp-metric-requests.ts';
import { lokiJson, lokiProtobuf, type LokiStream } from '../protocols/loki-push.ts';
import { damageBytes } from './damage-bytes.ts';
import { bulkOf, hecOf, jsonLogs, ndjsonOf, oneIn, otlpLogs } from './log-requests.ts';
import { journalEntries, journalWords } from './journal-entries.ts';
import * as metrics from './metric-requests.ts';
import { otherSubjects } from './other-subjects.ts';
import { openProtocol, type Wire } from './protocol-trial.ts';
import { forwardMessages, syslogMessages, syslogWords } from './socket-messages.ts';
import { type BatchSubject, type Making, ofProtobuf, ofText, type Subject } from './subject.ts';
import { jsonWords, lineWords, textWords } from './words.ts';

const otlpProtobuf = ofProtobuf((random, records) => encodeLogsRequest(otlpLogs(random, records)));
const otlpJson = ofText(jsonWords, (random, records) =>
  Buffer.from(writeLogsJson(otlpLogs(random, records), random.integer(0, 2 ** 31))),
);
const otlpMetricsProtobuf = ofProtobuf((random, records) =>
  encodeMetricsRequest(otlpMetrics(random, records)),
);
const writeRequests = ofProtobuf(metrics.writeRequest);

/** One in four is damaged after encoding as well. */
const wrapped = (wrap: (random: Random, input: Buffer) => Buffer): Pick<Making, 'wrap'> => ({
  wrap,
});
const gzip = wrapped((random, input) => gzipSync(input, { level: random.integer(0, 1) }));
const snappy = wrapped((_random, input) => compressSync(input));

function frame(message: Buffer, flag: number): Buffer {
  const head = Buffer.from([flag, 0, 0, 0, 0]);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const grpcFrame = wrapped((random, input) => {
  if (oneIn(random, 2)) return frame(input, 0);
  return frame(gzipSync(input, { level: 1 }), 1);
});

function lokiStreams(random: Random, records: number): LokiStream[] {
  const events = JSON.parse(jsonLogs(random, records).toString()) as unknown;
  const list: unknown[] = Array.isArray(events) ? events : [events];
  const entries = list.map((event) => ({
    time: BigInt(random.integer(0, 2 ** 31)) * 1_000_000_000n,
    line: JSON.stringify(event),
    metadata: { user: random.pick(['a', 'b']) },
  }));
  return [{ labels: { app: random.pick(['shop', 'a"\n']) }, entries }];
}

/** Of an array, or one object. */
export function countJsonEvents(body: Buffer): number | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return Array.isArray(value) ? value.length : 1;
  } catch {
    return undefined;
  }
}

interface Encoded extends Making, Pick<Wire, 'countEvents'> {
  /** Name of the protocol; default: that of the subject. */
  readonly protocol?: string;
  readonly coding?: ContentCoding;
}

function batches(name: string, mediaType: string, encoded: Encoded): BatchSubject {
  const { protocol = name, coding = 'identity', countEvents, ...making } = encoded;
  const format = { mediaType, parameters: new Map<string, string>(), coding };
  return {
    name,
    ...making,
    open: () => {
      // Running totals would make a batch depend on those before.
      const config = configSchema.parse({ metrics: { otlpMaxDeltaSeries: 0 } });
      const found = createProtocols(config).find((one) => one.name === protocol)!;
      return openProtocol({ protocol: found, format, ...(countEvents && { countEvents }) });
    },
  };
}

const protobuf = 'application/x-protobuf';
const grpc = 'application/grpc';

/** Lines of JSON, in the form of a protocol. */
function ndjson(wrap: (lines: Buffer) => Buffer): Making {
  return ofText(jsonWords, (random, records) => wrap(ndjsonOf(jsonLogs(random, records))));
}

/** Protocols, whose outcome is a batch. */
export const batchSubjects: readonly BatchSubject[] = [
  batches('json_logs', 'application/json', {
    ...ofText(jsonWords, jsonLogs),
    countEvents: countJsonEvents,
  }),
  batches(
    'lines',
    'application/x-ndjson',
    ndjson((lines) => lines),
  ),
  batches('loki_json', 'application/json', {
    ...ofText(jsonWords, (random, records) => lokiJson(lokiStreams(random, records))),
    protocol: 'loki',
  }),
  batches('loki_protobuf', protobuf, {
    ...ofProtobuf((random, records) => lokiProtobuf(lokiStreams(random, records))),
    ...snappy,
    protocol: 'loki',
  }),
  batches('datadog', 'application/json', ofText(jsonWords, jsonLogs)),
  batches(
    'gelf',
    'application/json',
    ndjson((lines) => lines),
  ),
  batches('syslog', 'application/syslog', {
    ...ofText(syslogWords, syslogMessages),
    takesAnything: true,
  }),
  batches('elasticsearch', 'application/x-ndjson', ndjson(bulkOf)),
  batches(
    'elasticsearch_document',
    'application/json',
    ofText(jsonWords, (random) => ndjsonOf(jsonLogs(random, 1))),
  ),
  batches('splunk_hec', 'application/json', ndjson(hecOf)),
  batches('forward', 'application/msgpack', { create: forwardMessages, damage: damageBytes }),
  batches('journal', 'application/vnd.fdo.journal', ofText(journalWords, journalEntries)),
  batches('otlp_json', 'application/json', { ...otlpJson, protocol: 'otlp_http' }),
  batches('otlp_protobuf', protobuf, { ...otlpProtobuf, protocol: 'otlp_http' }),
  batches('otlp_gzip', protobuf, {
    ...otlpProtobuf,
    ...gzip,
    protocol: 'otlp_http',
    coding: 'gzip',
  }),
  batches('otlp_grpc', grpc, { ...otlpProtobuf, ...grpcFrame, coding: 'gzip' }),
  batches('otlp_metrics_json', 'application/json', {
    ...ofText(jsonWords, (random, records) => writeMetricsJson(otlpMetrics(random, records))),
    protocol: 'otlp_metrics_http',
  }),
  batches('otlp_metrics_protobuf', protobuf, {
    ...otlpMetricsProtobuf,
    protocol: 'otlp_metrics_http',
  }),
  batches('otlp_metrics_grpc', grpc, { ...otlpMetricsProtobuf, ...grpcFrame, coding: 'gzip' }),
  batches('prom_text', 'text/plain', ofText(textWords, metrics.classicText)),
  batches('openmetrics', 'application/openmetrics-text', {
    ...ofText(textWords, metrics.openMetrics),
    protocol: 'prom_text',
  }),
  batches('influx', 'text/plain', ofText(lineWords, metrics.influxLines)),
  batches('remote_write_v2', protobuf, {
    ...ofProtobuf(metrics.writeRequestV2),
    ...snappy,
    coding: 'snappy',
  }),
  batches('remote_write', protobuf, { ...writeRequests, ...snappy, coding: 'snappy' }),
];

export const subjects: readonly Subject[] = [...batchSubjects, ...otherSubjects];
