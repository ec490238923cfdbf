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

  async function series(plan: SeriesPlan) {
    const statement = compileSeries(database, plan, plan.limit, limits);
    return (await connection.query<SeriesRow>('read', statement)).map(toLabels);
  }

  /** A column of text. */
  async function texts(statement: Statement): Promise<string[]> {
    return (await connection.query<readonly [string]>('read', statement)).map(([text]) => text);
  }

  async function metadata(plan: MetadataPlan) {
    const statement = compileMetadata(database, plan, limits);
    return (await connection.query<MetadataRow>('read', statement)).map(toMetadata);
  }

  return {
    series: (plan) => timed(events, 'series', series(plan)),
    labelNames: (plan) =>
      timed(events, 'label_names', texts(compileLabelNames(database, plan, limits))),
    labelValues: (plan, name) =>
      timed(events, 'label_values', texts(compileLabelValues(database, plan, name, limits))),
    metricMetadata: (plan) => timed(events, 'metric_metadata', metadata(plan)),
  };
}
