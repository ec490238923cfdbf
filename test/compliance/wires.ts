/**
 * Each protocol as the compliance test needs it: writes valid and invalid records, and maps
 * responses to statuses of SPEC §7.
 */
import { gzipSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { callGrpc } from './grpc-call.ts';
import { encodeWriteRequest, toSample, type WrittenSeries } from '../harness/prompb.ts';
import { encodeWriteRequestV2 } from '../harness/prompb-symbols.ts';
import { bytesField, doubleField, text } from '../harness/proto-wire.ts';
import { countLogs, countSeries, overHttp, range, type Wire } from './wire.ts';
import { logWires } from './log-wires.ts';
import { metricWires } from './metric-wires.ts';

function otlpJson(mark: string, records: number): string {
  const logRecords = range(records).map(() => ({ body: { stringValue: mark } }));
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
}

function otlpProtobuf(mark: string, records: number): Buffer {
  const time = doubleField(1, 1_700_000_000_000_000_001n);
  const record = bytesField(2, Buffer.concat([time, bytesField(5, text(1, mark))]));
  return bytesField(1, bytesField(2, Buffer.concat(range(records).map(() => record))));
}

const strangeToOtlp = [
  { 'Content-Type': 'text/plain' },
  { 'Content-Type': 'application/json', 'Content-Encoding': 'br' },
  { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy' },
  {},
];

const otlpHttpJson: Wire = {
  name: 'OTLP over HTTP, JSON',
  protocol: 'otlp_http',
  kind: 'otlp',
  headers: { 'Content-Type': 'application/json' },
  successStatus: 200,
  strangeHeaders: strangeToOtlp,
  malformed: Buffer.from('{"resourceLogs":['),
  encode: (mark, records) => Buffer.from(otlpJson(mark, records)),
  ...overHttp('otlp/v1/logs'),
  count: countLogs,
};

const otlpHttpProtobuf: Wire = {
  ...otlpHttpJson,
  name: 'OTLP over HTTP, protobuf',
  headers: { 'Content-Type': 'application/x-protobuf' },
  malformed: Buffer.from([0x0a, 0x7f, 0x01]),
  encode: otlpProtobuf,
};

const otlpHttpGzip: Wire = {
  ...otlpHttpProtobuf,
  name: 'OTLP over HTTP, protobuf in gzip',
  headers: { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'gzip' },
  malformed: gzipSync(otlpHttpProtobuf.malformed),
  encode: (mark, records) => gzipSync(otlpProtobuf(mark, records), { level: 0 }),
};

const otlpGrpc: Wire = {
  ...otlpHttpProtobuf,
  name: 'OTLP over gRPC',
  protocol: 'otlp_grpc',
  headers: {},
  hasReceiverInPath: false,
  strangeHeaders: [{ 'grpc-encoding': 'br' }, { 'content-type': 'application/grpc+json' }],
  send: (service, outgoing) => callGrpc(service, outgoing),
};

function textExposition(mark: string, records: number): string {
  return range(records)
    .map((n) => `compliance_total{mark="${mark}",n="${n}"} 1\n`)
    .join('');
}

const promText: Wire = {
  name: 'Prometheus text',
  protocol: 'prom_text',
  kind: 'prometheus',
  headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
  successStatus: 202,
  strangeHeaders: [
    { 'Content-Type': 'application/json' },
    { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' },
    { 'Content-Type': 'application/openmetrics-text; version=2.0.0' },
    {},
  ],
  malformed: Buffer.from('compliance_total{mark="bad"} one\n'),
  encode: (mark, records) => Buffer.from(textExposition(mark, records)),
  ...overHttp('prometheus/metrics'),
  count: countSeries,
};

const openMetrics: Wire = {
  ...promText,
  name: 'OpenMetrics',
  headers: { 'Content-Type': 'application/openmetrics-text; version=1.0.0; charset=utf-8' },
  malformed: Buffer.from('# TYPE compliance counter\ncompliance_total{mark="bad"} 1\n'),
  encode: (mark, records) =>
    Buffer.from(`# TYPE compliance counter\n${textExposition(mark, records)}# EOF\n`),
};

function oneSeries(mark: string, n: number): WrittenSeries {
  const labels = { __name__: 'compliance', mark, n: String(n) };
  return { labels, samples: [toSample(Date.now(), n + 0.5)] };
}

function snappyOf(series: readonly WrittenSeries[]): Buffer {
  return compressSync(encodeWriteRequest(series));
}

const remoteWrite: Wire = {
  name: 'remote_write',
  protocol: 'remote_write',
  kind: 'prometheus',
  headers: { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy' },
  successStatus: 204,
  strangeHeaders: [
    { 'Content-Type': 'application/x-protobuf' },
    { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'gzip' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'snappy' },
    {
      'Content-Type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
      'Content-Encoding': 'snappy',
    },
  ],
  malformed: compressSync(Buffer.from([0x0a, 0x7f, 0x01])),
  encode: (mark, records) => snappyOf(range(records).map((n) => oneSeries(mark, n))),
  encodePartlyBad: (mark) =>
    snappyOf([oneSeries(mark, 0), { labels: { mark }, samples: [toSample(1, 1)] }]),
  partlyBadStatus: 400,
  ...overHttp('prometheus/api/v1/write'),
  count: countSeries,
};

const v2Type = 'application/x-protobuf;proto=io.prometheus.write.v2.Request';

const remoteWriteV2: Wire = {
  ...remoteWrite,
  name: 'remote_write 2.0',
  protocol: 'remote_write_v2',
  headers: { 'Content-Type': v2Type, 'Content-Encoding': 'snappy' },
  strangeHeaders: [
    { 'Content-Type': v2Type },
    { 'Content-Type': v2Type, 'Content-Encoding': 'gzip' },
    { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy' },
    {
      'Content-Type': 'application/x-protobuf;proto=prometheus.WriteRequest',
      'Content-Encoding': 'snappy',
    },
  ],
  malformed: compressSync(Buffer.from([0x2a, 0x7f, 0x01])),
  encode: (mark, records) => snappyV2Of(range(records).map((n) => oneSeries(mark, n))),
  encodePartlyBad: (mark) =>
    snappyV2Of([oneSeries(mark, 0), { labels: { mark }, samples: [toSample(1, 1)] }]),
  ...overHttp('prometheus/api/v2/write'),
};

function snappyV2Of(series: readonly WrittenSeries[]): Buffer {
  return compressSync(encodeWriteRequestV2(series));
}

const escaped = (tag: string) => tag.replaceAll(/[ ,=]/g, '\\$&');

const influx: Wire = {
  ...promText,
  name: 'InfluxDB line protocol',
  protocol: 'influx',
  headers: {},
  successStatus: 204,
  strangeHeaders: [{ 'Content-Encoding': 'br' }],
  malformed: Buffer.from('compliance,mark=bad\n'),
  encode: (mark, records) =>
    Buffer.from(
      range(records)
        .map((n) => `compliance,mark=${escaped(mark)},n=${n} value=1\n`)
        .join(''),
    ),
  encodePartlyBad: (mark) =>
    Buffer.from(`compliance,mark=${escaped(mark)} value=1\ncompliance value=x\n`),
  partlyBadStatus: 400,
  ...overHttp('influx/api/v2/write'),
};

export const wires: readonly Wire[] = [
  ...logWires,
  otlpHttpJson,
  otlpHttpProtobuf,
  otlpHttpGzip,
  otlpGrpc,
  ...metricWires,
  promText,
  openMetrics,
  remoteWrite,
  remoteWriteV2,
  influx,
];
