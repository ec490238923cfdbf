/** Applies the transform of a receiver to a batch of logs. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RowWriter } from '../codec/row-writer.ts';
import type { Batch } from '../model/batch.ts';
import { AppError } from '../model/errors.ts';
import type { TransformStep } from '../model/transform.ts';
import { type Changes, type CompiledTransform, compileTransform } from './compile.ts';
import { RowEvent } from './row-event.ts';

/** By which the rows may grow: steps that copy fields can make a hundred times as much. */
const maxAddedBytes = 32 * 1024 * 1024;
/** Then other requests have a turn. */
const maxTurnMs = 5;
const maxCompiled = 1000;

/**
 * Returns the batch itself without steps, and for metrics.
 * @param cover called before the new rows take more than this many bytes; may throw
 * @throws AppError `too_large` when the rows grow by more than `maxAddedBytes`
 */
export type TransformBatch = (
  batch: Batch,
  steps: readonly TransformStep[],
  cover?: (bytes: number) => void,
) => Promise<Batch>;

export function createTransformer(): TransformBatch {
  /** By their text: the directory's cache returns new values every few seconds. */
  const compiled = new Map<string, CompiledTransform>();
  const find = (steps: readonly TransformStep[]): CompiledTransform => {
    const key = JSON.stringify(steps);
    const known = compiled.get(key);
    if (known !== undefined) return known;
    if (compiled.size >= maxCompiled) compiled.clear();
    const made = compileTransform(steps);
    compiled.set(key, made);
    return made;
  };
  return async (batch, steps, cover = () => {}) => {
    if (steps.length === 0 || batch.layout !== 'logs/1' || batch.rows === 0) return batch;
    return transformRows(batch, find(steps), cover);
  };
}

async function transformRows(
  batch: Batch,
  transform: CompiledTransform,
  cover: (bytes: number) => void,
): Promise<Batch> {
  const changes: Changes = new Map();
  const event = new RowEvent(batch.payload);
  const writer = new RowWriter();
  const maxBytes = batch.payload.length + maxAddedBytes;
  let coveredBytes = batch.payload.length;
  let rows = 0;
  let startedAt = performance.now();
  while (event.next()) {
    if (transform(event, changes)) {
      event.writeTo(writer);
      rows += 1;
    }
    if (writer.length > maxBytes) throw tooLarge(batch);
    if (writer.length > coveredBytes) {
      coveredBytes = 2 * writer.length;
      cover(coveredBytes);
    }
    if (performance.now() - startedAt < maxTurnMs) continue;
    await nextTurn();
    startedAt = performance.now();
  }
  const warnings = new Map<string, number>([...(batch.warnings ?? []), ...changes]);
  return { ...batch, rows, payload: writer.finish(), warnings };
}

function tooLarge({ rows, payload }: Batch): AppError {
  return new AppError(
    'too_large',
    `cannot store ${rows} logs of ${payload.length} bytes: the transform of the receiver makes ` +
      `them larger by more than ${maxAddedBytes} bytes; remove a step that copies or adds text, ` +
      'or send fewer logs in a request',
  );
}
