/** Decodes OTLP logs with the reader of their encoding. */
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { createSlicedDecoder } from '../../codec/sliced-decoder.ts';
import { LogBatch } from './log-batch.ts';

/** Reads one body of one encoding into a batch. */
export interface LogsReader {
  /**
   * Reads for a few ms at most, or until the turn of its batch is over.
   * @returns true once the body is done
   * @throws AppError `malformed` | `too_large`
   */
  run(): boolean;
}

/** @param batch started; owned by the reader until the body is done */
export type OpenLogsReader = (body: Buffer, batch: LogBatch, limits: DecodeLimits) => LogsReader;

export type LogsDecoder = (
  body: Buffer,
  open: OpenLogsReader,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/** The decoder throws the errors of the reader. */
export function createLogsDecoder(): LogsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new LogBatch());
  return (body, open, limits) =>
    decodeInSlices((batch) => {
      batch.start(body.length, limits);
      const reader = open(body, batch, limits);
      return {
        run() {
          batch.startTurn();
          return reader.run();
        },
        finish: () => batch.finish(),
      };
    });
}
