/** Decoders of both versions of remote_write, which share what they know of series. */
import { MetricWriter } from '../../codec/metric-writer.ts';
import { SeriesMemo } from '../../codec/series-memo.ts';
import { createSlicedDecoder } from '../../codec/sliced-decoder.ts';
import type { Batch } from '../../model/batch.ts';
import type { DecodeContext } from '../../model/protocol.ts';
import { type DecodingOptions, WriteRequestDecoding } from './decode.ts';
import { RequestV2 } from './symbol-request.ts';
import { TimeSeries } from './time-series.ts';

type Decode = (body: Buffer, context: DecodeContext) => Batch | Promise<Batch>;

export interface RemoteWriteDecoders {
  readonly v1: Decode;
  readonly v2: Decode;
}

/**
 * If one request has two samples of a series at one time, both are written in order and the store
 * keeps the last.
 *
 * The decoders throw AppError `malformed` for a body that is not a request, and `too_large` for
 * more records or labels than the limits. Invalid series and records are rejected one by one.
 */
export function createRemoteWriteDecoders(
  options: DecodingOptions & { readonly maxInflatedBytes: number },
): RemoteWriteDecoders {
  const { labels, maxLabelBytes, maxInflatedBytes: maxBytes } = options;
  const memo = new SeriesMemo(options.memo);
  const decodeInSlices = createSlicedDecoder(() => {
    const writer = new MetricWriter();
    const series = new TimeSeries(labels.maxLabels);
    const clear = () => {
      writer.clear();
      series.clear();
    };
    return { writer, series, memo, labels, maxLabelBytes, clear };
  });
  return {
    v1: (body, context) =>
      decodeInSlices(function* (workspace) {
        const decoding = new WriteRequestDecoding(context, workspace);
        yield* decoding.read(body);
        return decoding.finish();
      }),
    v2: (body, context) =>
      decodeInSlices(function* (workspace) {
        const decoding = new WriteRequestDecoding(context, workspace);
        const request = new RequestV2(body, { labels, maxBytes });
        for (;;) {
          const { piece, isLast } = request.next();
          yield* decoding.read(piece);
          if (isLast) return decoding.finish();
          yield;
        }
      }),
  };
}
