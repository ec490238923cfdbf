/**
 * Runs the reads of label sets and metadata within their limits. What they mean is settled in sql/.
 */
import type { MetadataPlan, SeriesPlan } from '../model/metric-plan.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Connection } from './connection.ts';
import type { Store } from './port.ts';
import { timed } from './read-time.ts';
import { compileMetadata, type MetadataRow, toMetadata } from './sql/metric-metadata.ts';
import {
  compileLabelNames,
  compileLabelValues,
  compileSeries,
  type SeriesRow,
  toLabels,
} from './sql/series.ts';
import type { ReadLimits, Statement } from './sql/statement.ts';

export interface MetricsReaderParts {
  readonly connection: Connection;
  readonly database: string;
  readonly events: StoreEvents;
  readonly limits: ReadLimits;
}

/** As the store's port promises. */
export type SeriesReader = Pick<Store, 'series' | 'labelNames' | 'labelValues' | 'metricMetadata'>;

export function createSeriesReader(parts: MetricsReaderParts): SeriesReader {
  const { connection, database, events, limits } = parts;

  async function series(plan: SeriesPlan, signal?: AbortSignal) {
    const statement = compileSeries(database, plan, plan.limit, limits);
    return (await connection.query<SeriesRow>('read', statement, signal)).map(toLabels);
  }

  /** A column of text. */
  async function texts(statement: Statement, signal?: AbortSignal): Promise<string[]> {
    const rows = await connection.query<readonly [string]>('read', statement, signal);
    return rows.map(([text]) => text);
  }

  async function metadata(plan: MetadataPlan, signal?: AbortSignal) {
    const statement = compileMetadata(database, plan, limits);
    return (await connection.query<MetadataRow>('read', statement, signal)).map(toMetadata);
  }

  return {
    series: (plan, signal) => timed(events, 'series', series(plan, signal)),
    labelNames: (plan, signal) =>
      timed(events, 'label_names', texts(compileLabelNames(database, plan, limits), signal)),
    labelValues: (plan, name, signal) =>
      timed(
        events,
        'label_values',
        texts(compileLabelValues(database, plan, name, limits), signal),
      ),
    metricMetadata: (plan, signal) => timed(events, 'metric_metadata', metadata(plan, signal)),
  };
}
