/**
 * Inserts batches of metrics, section by section, and says what is known of their rows where that
 * fails. What is inserted twice reads once, so it never asks what is there.
 */
import { type MetricSection, metricSections, sectionOf } from '../codec/metric-rows.ts';
import type { StampedBatch } from '../model/batch.ts';
import type { FencingToken } from '../model/fencing-token.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import { toInsertError } from './failures.ts';
import type { Fence } from './fence.ts';
import type { InsertMode } from './sql/insert-logs.ts';
import { compileInsertSection } from './sql/insert-metrics.ts';
import { encodeOuterRows, type OuterRow } from './sql/outer-rows.ts';
import type { Placement } from './sql/tables.ts';

export interface MetricsWriter {
  /** Labels go before the samples they belong to. @throws StoreInsertError */
  insert(batches: readonly StampedBatch[], mode: InsertMode, token: FencingToken): Promise<void>;
}

export interface MetricsWriterParts {
  readonly connection: Connection;
  readonly placement: Placement;
  readonly insertQuorum: string;
  readonly fence: Pick<Fence, 'pass'>;
  readonly events: StoreEvents;
}

export function createMetricsWriter(parts: MetricsWriterParts): MetricsWriter {
  const { connection, placement, insertQuorum, fence, events } = parts;

  async function insertSection(
    section: MetricSection,
    batches: readonly StampedBatch[],
    token: FencingToken,
  ) {
    const outerRows = batches.flatMap((batch) => toOuterRow(batch, section));
    if (outerRows.length === 0) return;
    const target = { placement, insertQuorum, pass: await fence.pass(token) };
    const statement = compileInsertSection(target, section, batches);
    await connection.insert(statement, encodeOuterRows(outerRows));
  }

  return {
    async insert(batches, mode, token) {
      if (batches.length === 0) return;
      const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
      const startedAt = performance.now();
      const seconds = () => (performance.now() - startedAt) / 1000;
      try {
        for (const section of metricSections) {
          await insertSection(section, batches, token);
        }
      } catch (cause) {
        const error = toInsertError(cause, placement);
        events.insertFailed({ rows, failure: error.failure, seconds: seconds() }, error);
        throw error;
      }
      events.inserted({ rows, batches: batches.length, mode, seconds: seconds() });
    },
  };
}

/** None where the batch has nothing in this section. */
function toOuterRow(batch: StampedBatch, section: MetricSection): OuterRow[] {
  const rows = sectionOf(batch.payload, section);
  return rows.length === 0 ? [] : [{ batch, count: undefined, rows }];
}
