/**
 * remote_write v1 (https://prometheus.io/docs/specs/prw/remote_write_spec): the bytes of one
 * `prometheus.WriteRequest`, no longer compressed, to a batch of `metrics/1`. Pure: bytes in, batch
 * out. Labels that were seen before are not read again but known by their bytes.
 */
import type { Batch } from '../../model/batch.ts';
import { MetricWriter } from '../../codec/metric-writer.ts';
import type { DecodeContext } from '../../model/protocol.ts';
import { SeriesMemo } from '../../codec/series-memo.ts';
import { Decoding, type DecodingOptions, type Desk } from './decoding.ts';
import { TimeSeries } from './time-series.ts';

/** Decodes one body after the other, or several in turns; a server needs one. */
export type RemoteWriteDecoder = (body: Buffer, context: DecodeContext) => Batch | Promise<Batch>;

/** More are made where more requests are under way, and not kept: each may have grown to 20 MiB. */
const maxIdleDesks = 4;

/**
 * The decoder keeps its working memory from body to body. A body must stay unchanged until its
 * batch is there.
 *
 * Where one request has two samples of a series at one time, both are written in their order, and
 * the store keeps the last.
 *
 * The decoder throws AppError `malformed` for what is no such message, and `too_large` for more
 * records or labels than it may hold. Nothing of such a body may be stored. Series and records that
 * are no good alone are rejections in the batch, by series.
 */
export function createRemoteWriteDecoder(options: DecodingOptions): RemoteWriteDecoder {
  const memo = new SeriesMemo(options.memo);
  const idleDesks: Desk[] = [];

  async function finishInTurns(decoding: Decoding, desk: Desk): Promise<Batch> {
    try {
      do await new Promise<void>((resolve) => setImmediate(resolve));
      while (!decoding.run());
      return decoding.finish();
    } finally {
      leave(desk);
    }
  }

  function leave(desk: Desk): void {
    desk.writer.clear();
    desk.series.clear();
    if (idleDesks.length < maxIdleDesks) idleDesks.push(desk);
  }

  return (body, context) => {
    const desk = idleDesks.pop() ?? {
      writer: new MetricWriter(),
      series: new TimeSeries(options.labels.maxLabels),
    };
    const decoding = new Decoding({ body, context, desk, memo, options });
    let isDone = true;
    try {
      isDone = decoding.run();
      return isDone ? decoding.finish() : finishInTurns(decoding, desk);
    } finally {
      if (isDone) leave(desk);
    }
  };
}
