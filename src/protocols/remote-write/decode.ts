/**
 * Decodes remote_write v1 (https://prometheus.io/docs/specs/prw/remote_write_spec): the bytes of
 * one decompressed `prometheus.WriteRequest` to `metrics/1`.
 */
import type { Batch } from '../../model/batch.ts';
import { MetricWriter } from '../../codec/metric-writer.ts';
import type { DecodeContext } from '../../model/protocol.ts';
import { SeriesMemo } from '../../codec/series-memo.ts';
import { createSlicedDecoder } from '../../codec/sliced-decoder.ts';
import { type DecodingOptions, WriteRequestDecoding } from './decoding.ts';
import { TimeSeries } from './time-series.ts';

export type RemoteWriteDecoder = (body: Buffer, context: DecodeContext) => Batch | Promise<Batch>;

/**
 * If one request has two samples of a series at one time, both are written in order and the store
 * keeps the last.
 *
 * The decoder throws AppError `malformed` for a body that is not a WriteRequest, and `too_large`
 * for more records or labels than the limits. Invalid series and records are rejected one by one.
 */
export function createRemoteWriteDecoder(options: DecodingOptions): RemoteWriteDecoder {
  const memo = new SeriesMemo(options.memo);
  const decodeInSlices = createSlicedDecoder(() => {
    const writer = new MetricWriter();
    const series = new TimeSeries(options.labels.maxLabels);
    const clear = () => {
      writer.clear();
      series.clear();
    };
    return { writer, series, clear };
  });
  return (body, context) =>
    decodeInSlices(
      (workspace) => new WriteRequestDecoding({ body, context, workspace, memo, options }),
    );
}
