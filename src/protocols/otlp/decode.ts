/**
 * Drives a reader of OTLP logs over one body, in slices, so that other requests get their turns.
 * Pure: bytes in, batch out.
 */
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { LogBatch } from './log-batch.ts';

/** Working memory kept for the next bodies; a few MiB each at most. */
const maxIdleBatches = 4;

/** Reads one body of one encoding into a batch. */
export interface LogsReader {
  /**
   * Reads on, for a few ms at most, or until the turn of its batch is over.
   * @returns true once the body is done.
   * @throws AppError `malformed` | `too_large`
   */
  run(): boolean;
}

/** @param batch started, and the reader's own until its body is done. */
export type OpenLogsReader = (body: Buffer, batch: LogBatch, limits: DecodeLimits) => LogsReader;

/** Decodes one body after the other, or several in turns; a server needs one. */
export type LogsDecoder = (
  body: Buffer,
  open: OpenLogsReader,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/**
 * The decoder keeps its working memory from body to body. A body must stay unchanged until its
 * batch is there; the decoder throws what its reader throws, and then nothing may be stored.
 */
export function createLogsDecoder(): LogsDecoder {
  const idleBatches: LogBatch[] = [];

  function giveBack(batch: LogBatch): void {
    batch.release();
    if (idleBatches.length < maxIdleBatches) idleBatches.push(batch);
  }

  function runTurn(reader: LogsReader, batch: LogBatch): boolean {
    batch.startTurn();
    return reader.run();
  }

  async function finishInTurns(reader: LogsReader, batch: LogBatch): Promise<Batch> {
    try {
      do await new Promise<void>((resolve) => setImmediate(resolve));
      while (!runTurn(reader, batch));
      return batch.finish();
    } finally {
      giveBack(batch);
    }
  }

  return (body, open, limits) => {
    const batch = idleBatches.pop() ?? new LogBatch();
    batch.start(body.length, limits);
    let isDone = true;
    try {
      const reader = open(body, batch, limits);
      isDone = runTurn(reader, batch);
      return isDone ? batch.finish() : finishInTurns(reader, batch);
    } finally {
      if (isDone) giveBack(batch);
    }
  };
}
