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
import { openProtocol } from './protocol-trial.ts';
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

interface Way {
  /** Name of the protocol. */
  readonly protocol: string;
  readonly mediaType: string;
  readonly coding?: ContentCoding;
}

function batches(name: string, way: Way, making: Making): BatchSubject {
  const { protocol, mediaType, coding = 'identity' } = way;
  const format = { mediaType, parameters: new Map<string, string>(), coding };
  return {
    name,
    ...making,
    open: () => {
      // Running totals would make a batch depend on those before.
      const config = configSchema.parse({ metrics: { otlpMaxDeltaSeries: 0 } });
      const protocols = createProtocols(config);
      return openProtocol({ protocol: protocols.find((one) => one.name === protocol)!, format });
    },
  };
}

/** Protocols, whose outcome is a batch. */
export const batchSubjects: readonly BatchSubject[] = [
  batches(
    'json_logs',
    { protocol: 'json_logs', mediaType: 'application/json' },
    ofText(jsonWords, jsonLogs),
  ),
  batches(
    'lines',
    { protocol: 'lines', mediaType: 'application/x-ndjson' },
    ofText(jsonWords, (random, records) => ndjsonOf(jsonLogs(random, records))),
  ),
  batches(
    'loki_json',
    { protocol: 'loki', mediaType: 'application/json' },
    ofText(jsonWords, (random, records) => lokiJson(lokiStreams(random, records))),
  ),
  batches(
    'loki_protobuf',
    { protocol: 'loki', mediaType: 'application/x-protobuf' },
    {
      ...ofProtobuf((random, records) => lokiProtobuf(lokiStreams(random, records))),
      ...snappy,
    },
  ),
  batches(
    'datadog',
    { protocol: 'datadog', mediaType: 'application/json' },
    ofText(jsonWords, jsonLogs),
  ),
  batches(
    'gelf',
    { protocol: 'gelf', mediaType: 'application/json' },
    ofText(jsonWords, (random, records) => ndjsonOf(jsonLogs(random, records))),
  ),
  batches(
    'syslog',
    { protocol: 'syslog', mediaType: 'application/syslog' },
    { ...ofText(syslogWords, syslogMessages), takesAnything: true },
  ),
  batches(
    'elasticsearch',
    { protocol: 'elasticsearch', mediaType: 'application/x-ndjson' },
    ofText(jsonWords, (random, records) => bulkOf(ndjsonOf(jsonLogs(random, records)))),
  ),
  batches(
    'splunk_hec',
    { protocol: 'splunk_hec', mediaType: 'application/json' },
    ofText(jsonWords, (random, records) => hecOf(ndjsonOf(jsonLogs(random, records)))),
  ),
  batches(
    'forward',
    { protocol: 'forward', mediaType: 'application/msgpack' },
    { create: forwardMessages, damage: damageBytes },
  ),
  batches(
    'journal',
    { protocol: 'journal', mediaType: 'application/vnd.fdo.journal' },
    ofText(journalWords, journalEntries),
  ),
  batches('otlp_json', { protocol: 'otlp_http', mediaType: 'application/json' }, otlpJson),
  batches(
    'otlp_protobuf',
    { protocol: 'otlp_http', mediaType: 'application/x-protobuf' },
    otlpProtobuf,
  ),
  batches(
    'otlp_gzip',
    {
      protocol: 'otlp_http',
      mediaType: 'application/x-protobuf',
      coding: 'gzip',
    },
    { ...otlpProtobuf, ...gzip },
  ),
  batches(
    'otlp_grpc',
    { protocol: 'otlp_grpc', mediaType: 'application/grpc', coding: 'gzip' },
    { ...otlpProtobuf, ...grpcFrame },
  ),
  batches(
    'otlp_metrics_json',
    { protocol: 'otlp_metrics_http', mediaType: 'application/json' },
    ofText(jsonWords, (random, records) => writeMetricsJson(otlpMetrics(random, records))),
  ),
  batches(
    'otlp_metrics_protobuf',
    { protocol: 'otlp_metrics_http', mediaType: 'application/x-protobuf' },
    otlpMetricsProtobuf,
  ),
  batches(
    'otlp_metrics_grpc',
    { protocol: 'otlp_metrics_grpc', mediaType: 'application/grpc', coding: 'gzip' },
    { ...otlpMetricsProtobuf, ...grpcFrame },
  ),
  batches(
    'prom_text',
    { protocol: 'prom_text', mediaType: 'text/plain' },
    ofText(textWords, metrics.classicText),
  ),
  batches(
    'openmetrics',
    { protocol: 'prom_text', mediaType: 'application/openmetrics-text' },
    ofText(textWords, metrics.openMetrics),
  ),
  batches(
    'influx',
    { protocol: 'influx', mediaType: 'text/plain' },
    ofText(lineWords, metrics.influxLines),
  ),
  batches(
    'remote_write_v2',
    { protocol: 'remote_write_v2', mediaType: 'application/x-protobuf', coding: 'snappy' },
    { ...ofProtobuf(metrics.writeRequestV2), ...snappy },
  ),
  batches(
    'remote_write',
    {
      protocol: 'remote_write',
      mediaType: 'application/x-protobuf',
      coding: 'snappy',
    },
    { ...writeRequests, ...snappy },
  ),
];

export const subjects: readonly Subject[] = [...batchSubjects, ...otherSubjects];
