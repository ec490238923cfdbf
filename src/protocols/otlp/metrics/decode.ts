/** Decodes OTLP metrics of any encoding to `metrics/1`. */
import { MetricWriter } from '../../../codec/metric-writer.ts';
import { createSlicedDecoder, type Decoding } from '../../../codec/sliced-decoder.ts';
import type { Batch } from '../../../model/batch.ts';
import type { DecodeContext } from '../../../model/protocol.ts';
import { toProtobuf } from '../json-to-protobuf.ts';
import { WarningCounts } from '../log-record.ts';
import { metricsRequest } from '../messages.ts';
import { maxMessageBytes, type MetricsOptions, type MetricsParts } from './point-reader.ts';
import { MetricsRequest } from './request-reader.ts';

type MetricsDecoder = (
  body: Buffer,
  isJson: boolean,
  context: DecodeContext,
) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` for a body that is no request, and `too_large` for more
 * data points, samples or labels than the limits. Data points are rejected one by one.
 */
export function createMetricsDecoder(options: MetricsOptions): MetricsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new MetricWriter());
  return (body, isJson, context) =>
    decodeInSlices((writer) => {
      const parts = { writer, options, context, warnings: new WarningCounts() };
      return toDecoding(isJson ? decodeJson(body, parts) : decodeProtobuf(body, parts));
    });
}

function toDecoding(slices: Generator<undefined, MetricsRequest>): Decoding {
  let request: MetricsRequest | undefined;
  return {
    run() {
      const { done, value } = slices.next();
      request = value;
      return done === true;
    },
    finish: () => request!.finish(),
  };
}

function* decodeJson(body: Buffer, parts: MetricsParts): Generator<undefined, MetricsRequest> {
  const { warnings, context } = parts;
  const { maxDepth } = context.limits;
  // So few bytes bound the elements as well.
  const rewriteLimits = { maxDepth, maxMessageBytes, maxElements: Infinity };
  const message = yield* toProtobuf(body, metricsRequest, warnings, rewriteLimits);
  return yield* decodeProtobuf(message, parts);
}

function* decodeProtobuf(body: Buffer, parts: MetricsParts): Generator<undefined, MetricsRequest> {
  const request = new MetricsRequest(body, parts);
  yield* request.read();
  return request;
}
