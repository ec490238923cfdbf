/** Applies the transform of a receiver to a batch of logs. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RowWriter } from '../codec/row-writer.ts';
import type { Batch } from '../model/batch.ts';
import type { TransformStep } from '../model/transform.ts';
import { type Changes, type CompiledTransform, compileTransform } from './compile.ts';
import { RowEvent } from './row-event.ts';

/** Between looks at the clock. */
const rowsPerLook = 32;
/** Then other requests have a turn. */
const maxTurnMs = 5;
const maxCompiled = 1000;

/** Returns the batch itself without steps, and for metrics. */
export type TransformBatch = (batch: Batch, steps: readonly TransformStep[]) => Promise<Batch>;

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
  return async (batch, steps) => {
    if (steps.length === 0 || batch.layout !== 'logs/1' || batch.rows === 0) return batch;
    return transformRows(batch, find(steps));
  };
}

async function transformRows(batch: Batch, transform: CompiledTransform): Promise<Batch> {
  const changes: Changes = new Map();
  const event = new RowEvent(batch.payload);
  const writer = new RowWriter();
  let rows = 0;
  let startedAt = performance.now();
  for (let index = 0; event.next(); index += 1) {
    if (transform(event, changes)) {
      event.writeTo(writer);
      rows += 1;
    }
    if (index % rowsPerLook !== 0 || performance.now() - startedAt < maxTurnMs) continue;
    await nextTurn();
    startedAt = performance.now();
  }
  const warnings = new Map<string, number>([...(batch.warnings ?? []), ...changes]);
  return { ...batch, rows, payload: writer.finish(), warnings };
}
