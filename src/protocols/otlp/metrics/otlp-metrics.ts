/**
 * OTLP metrics (https://opentelemetry.io/docs/specs/otlp) over HTTP in JSON or protobuf, and over
 * gRPC, as Prometheus' series. Each encoding yields the same rows for the same request.
 */
import { SeriesMemo } from '../../../codec/series-memo.ts';
import type { Config } from '../../../config/schema.ts';
import type { Protocol } from '../../../model/protocol.ts';
import { grpcParts, httpParts, isJson } from '../otlp-parts.ts';
import { createReplies } from '../reply.ts';
import { createMetricsDecoder } from './decode.ts';
import { DeltaTotals } from './delta-totals.ts';
import { description } from './describe.ts';
import { toNameRules } from './metric-names.ts';

/** A bucket of eight bytes may become a sample and the labels of a series. */
const heapBytesPerBodyByte = 16;
/** About 250,000 series with labels of 150 bytes. */
const memo = { maxBytes: 96 * 1024 * 1024, maxSeries: 400_000 };

const replies = createReplies({ noun: 'data point', rejected: 'rejectedDataPoints' });

export function createOtlpMetrics(config: Config): [http: Protocol, grpc: Protocol] {
  const { ingest, metrics } = config;
  const promoted = new Set(metrics.otlpPromotedAttributes);
  const hasScopeLabels = metrics.otlpScope === 'labels';
  const maxTotals = hasOneIngester(config) ? metrics.otlpMaxDeltaSeries : 0;
  const decode = createMetricsDecoder({
    labels: metrics,
    rules: { ...toNameRules(metrics.otlpTranslation), promoted, hasScopeLabels },
    maxLabelBytes: 2 * ingest.otlpMaxProtobufBytes,
    memo: new SeriesMemo(memo),
    totals: {
      numbers: new DeltaTotals(maxTotals),
      histograms: new DeltaTotals(Math.ceil(maxTotals / histogramsPerTotal)),
    },
  });
  return [
    {
      ...httpParts(ingest),
      name: 'otlp_metrics_http',
      // Unknown paths below the prefix are those of OTLP logs.
      http: { path: 'otlp/v1/metrics', description },
      heapBytesPerBodyByte,
      decode: (body, format, context) => decode(body, isJson(format), context),
      reply: replies.toHttp,
    },
    {
      ...grpcParts(ingest),
      name: 'otlp_metrics_grpc',
      grpcMethod: 'opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
      heapBytesPerBodyByte,
      decode: (body, _format, context) => decode(body, false, context),
      reply: replies.toGrpc,
    },
  ];
}

/** The total of a histogram takes about as much memory as so many numbers. */
const histogramsPerTotal = 20;

/**
 * Whether all requests of a series come to this process. Elsewhere each delta is a total of its
 * own, from zero: totals of several processes would run through each other in one series.
 */
function hasOneIngester({ workers, queue }: Config): boolean {
  return workers === 1 && queue.urls.length === 0;
}
