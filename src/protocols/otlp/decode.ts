/** Decodes OTLP logs with the reader of their encoding. */
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { createSlicedDecoder, type Slices } from '../../codec/sliced-decoder.ts';
import { LogBatch } from './log-batch.ts';

/**
 * Reads one body of one encoding.
 * @param batch started; owned by the reader until the body is done
 * @throws AppError `malformed` | `too_large`
 */
export type ReadLogs = (body: Buffer, batch: LogBatch, limits: DecodeLimits) => Slices<void>;

export type LogsDecoder = (
  body: Buffer,
  read: ReadLogs,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/** The decoder throws the errors of the reader. */
export function createLogsDecoder(): LogsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new LogBatch());
  return (body, read, limits) =>
    decodeInSlices(function* (batch) {
      batch.start(body.length, limits);
      yield* read(body, batch, limits);
      return batch.finish();
    });
}
