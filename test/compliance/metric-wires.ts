/** OTLP metrics for the compliance test. */
import { gzipSync } from 'node:zlib';
import {
  attributesOf,
  encodeMetricsRequest,
  type MetricsRequest,
  requestOf,
  writeMetricsJson,
} from '../protocols/otlp-metrics.ts';
import { callGrpc, metricsMethod } from './grpc-call.ts';
import { countSeries, overHttp, range, type Wire } from './wire.ts';

function gauges(mark: string, records: number): MetricsRequest {
  const dataPoints = range(records).map((n) => ({
    timeUnixNano: `${Date.now()}000000`,
    asDouble: n + 0.5,
    attributes: attributesOf({ mark, n: String(n) }),
  }));
  return requestOf([{ name: 'compliance', gauge: { dataPoints } }]);
}

/** The second point has no value. */
function partlyBad(mark: string): MetricsRequest {
  const point = { timeUnixNano: `${Date.now()}000000`, attributes: attributesOf({ mark }) };
  const dataPoints = [{ ...point, asDouble: 1 }, point];
  return requestOf([{ name: 'compliance', gauge: { dataPoints } }]);
}

const otlpJson: Wire = {
  name: 'OTLP metrics over HTTP, JSON',
  protocol: 'otlp_metrics_http',
  kind: 'otlp',
  headers: { 'Content-Type': 'application/json' },
  successStatus: 200,
  strangeHeaders: [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'zstd' },
    { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy' },
    {},
  ],
  malformed: Buffer.from('{"resourceMetrics":['),
  encode: (mark, records) => writeMetricsJson(gauges(mark, records)),
  encodePartlyBad: (mark) => writeMetricsJson(partlyBad(mark)),
  partlyBadStatus: 200,
  ...overHttp('otlp/v1/metrics'),
  count: countSeries,
};

const otlpProtobuf: Wire = {
  ...otlpJson,
  name: 'OTLP metrics over HTTP, protobuf',
  headers: { 'Content-Type': 'application/x-protobuf' },
  malformed: Buffer.from([0x0a, 0x7f, 0x01]),
  encode: (mark, records) => encodeMetricsRequest(gauges(mark, records)),
  encodePartlyBad: (mark) => encodeMetricsRequest(partlyBad(mark)),
};

const otlpGzip: Wire = {
  ...otlpProtobuf,
  name: 'OTLP metrics over HTTP, protobuf in gzip',
  headers: { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'gzip' },
  malformed: gzipSync(otlpProtobuf.malformed),
  encode: (mark, records) => gzipSync(encodeMetricsRequest(gauges(mark, records)), { level: 0 }),
  encodePartlyBad: (mark) => gzipSync(encodeMetricsRequest(partlyBad(mark))),
};

const otlpGrpc: Wire = {
  ...otlpProtobuf,
  name: 'OTLP metrics over gRPC',
  protocol: 'otlp_metrics_grpc',
  headers: {},
  hasReceiverInPath: false,
  strangeHeaders: [{ 'grpc-encoding': 'zstd' }, { 'content-type': 'application/grpc+json' }],
  send: (service, outgoing) => callGrpc(service, outgoing, metricsMethod),
};

export const metricWires: readonly Wire[] = [otlpJson, otlpProtobuf, otlpGzip, otlpGrpc];
