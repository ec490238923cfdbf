/** Decodes OTLP logs with the reader of their encoding. */
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { createSlicedDecoder } from '../../codec/sliced-decoder.ts';
import { LogBatch } from './log-batch.ts';

/** Work that yields after a few ms, or when the turn of its batch is over. */
export type Slices = Generator<undefined, void>;

/**
 * Reads one body of one encoding.
 * @param batch started; owned by the reader until the body is done
 * @throws AppError `malformed` | `too_large`
 */
export type ReadLogs = (body: Buffer, batch: LogBatch, limits: DecodeLimits) => Slices;

export type LogsDecoder = (
  body: Buffer,
  read: ReadLogs,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/** The decoder throws the errors of the reader. */
export function createLogsDecoder(): LogsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new LogBatch());
  return (body, read, limits) =>
    decodeInSlices((batch) => {
      batch.start(body.length, limits);
      const slices = read(body, batch, limits);
      return {
        run() {
          batch.startTurn();
          return slices.next().done === true;
        },
        finish: () => batch.finish(),
      };
    });
}
