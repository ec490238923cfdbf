/**
 * OTLP metrics (https://opentelemetry.io/docs/specs/otlp) over HTTP in JSON or protobuf, and over
 * gRPC, as Prometheus' series. Each encoding yields the same rows for the same request.
 */
import { MetricWriter } from '../../../codec/metric-writer.ts';
import { SeriesMemo } from '../../../codec/series-memo.ts';
import { createSlicedDecoder, type Slices } from '../../../codec/sliced-decoder.ts';
import type { Config } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import type { DecodeContext, Protocol } from '../../../model/protocol.ts';
import { describeSignal } from '../describe.ts';
import { toProtobuf } from '../json-to-protobuf.ts';
import { WarningCounts } from '../log-record.ts';
import { metricsRequest } from '../messages.ts';
import { grpcParts, httpParts, isJson } from '../otlp-parts.ts';
import { createReplies } from '../reply.ts';
import { DeltaTotals } from './delta-totals.ts';
import { toNameRules } from './metric-names.ts';
import { maxMessageBytes, type MetricsOptions, type MetricsParts } from './point-reader.ts';
import { MetricsRequest } from './request-reader.ts';

/** A bucket of eight bytes may become a sample and the labels of a series. */
const heapBytesPerBodyByte = 16;
/** About 250,000 series with labels of 150 bytes. */
const memo = { maxBytes: 96 * 1024 * 1024, maxSeries: 400_000 };

const description = describeSignal({
  operationId: 'ingestOtlpMetrics',
  summary: 'Send metrics by OTLP over HTTP',
  name: 'Metrics',
  resources: 'resourceMetrics',
  rejected: 'rejectedDataPoints',
  details: 'Data points become samples with the names that Prometheus gives them. ',
  example: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'auth' } }] },
      scopeMetrics: [
        {
          metrics: [
            {
              name: 'sign.ins',
              sum: {
                aggregationTemporality: 2,
                isMonotonic: true,
                dataPoints: [
                  {
                    startTimeUnixNano: '1544712600000000000',
                    timeUnixNano: '1544712660000000000',
                    asInt: '42',
                  },
                ],
              },
            },
          ],
        },
      ],
    },
  ],
});

const replies = createReplies({ noun: 'data point', rejected: 'rejectedDataPoints' });

export function createOtlpMetrics(config: Config): [http: Protocol, grpc: Protocol] {
  const { ingest, metrics } = config;
  const promoted = new Set(metrics.otlpPromotedAttributes);
  const hasScopeLabels = metrics.otlpScope === 'labels';
  // Several ingesting processes keep no running totals: each would add up only its share of the
  // deltas, and their totals would alternate in one series.
  const hasOneIngester = config.workers === 1 && config.queue.urls.length === 0;
  const maxTotals = hasOneIngester ? metrics.otlpMaxDeltaSeries : 0;
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
      decode: (body, format, context) =>
        decode(body, isJson(format) ? 'json' : 'protobuf', context),
      reply: replies.toHttp,
    },
    {
      ...grpcParts(ingest),
      name: 'otlp_metrics_grpc',
      grpcMethod: 'opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
      heapBytesPerBodyByte,
      decode: (body, _format, context) => decode(body, 'protobuf', context),
      reply: replies.toGrpc,
    },
  ];
}

/** The total of a histogram takes about as much memory as so many numbers. */
const histogramsPerTotal = 20;

type MetricsDecoder = (
  body: Buffer,
  encoding: 'json' | 'protobuf',
  context: DecodeContext,
) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` for a body that is no request, and `too_large` for more
 * data points, samples or labels than the limits. Data points are rejected one by one.
 */
function createMetricsDecoder(options: MetricsOptions): MetricsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new MetricWriter());
  return (body, encoding, context) =>
    decodeInSlices((writer) =>
      decodeRequest(body, encoding, { writer, options, context, warnings: new WarningCounts() }),
    );
}

function* decodeRequest(
  body: Buffer,
  encoding: 'json' | 'protobuf',
  parts: MetricsParts,
): Slices<Batch> {
  const { warnings, context } = parts;
  const { maxDepth } = context.limits;
  // So few bytes bound the elements as well.
  const rewriteLimits = { maxDepth, maxMessageBytes, maxElements: Infinity };
  const message =
    encoding === 'json' ? yield* toProtobuf(body, metricsRequest, warnings, rewriteLimits) : body;
  const request = new MetricsRequest(message, parts);
  yield* request.read();
  return request.finish();
}
