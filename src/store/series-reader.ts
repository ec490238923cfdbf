/**
 * Runs the reads of label sets and metadata within their limits. What they mean is settled in sql/.
 */
import type { MetadataPlan, SeriesPlan } from '../model/metric-plan.ts';
import type { StoreEvents } from '../telemetry/store-events.ts';
import type { Asker, Connection } from './connection.ts';
import type { Store } from './port.ts';
import { timed } from './read-time.ts';
import {
  compileLabelNames,
  compileLabelValues,
  compileMetadata,
  compileSeries,
  type MetadataRow,
  type SeriesRow,
  toLabels,
  toMetadata,
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

  async function series(plan: SeriesPlan, asker: Asker) {
    const statement = compileSeries(database, plan, plan.limit, limits);
    return (await connection.read<SeriesRow>(statement, asker)).map(toLabels);
  }

  /** A column of text. */
  async function texts(statement: Statement, asker: Asker): Promise<string[]> {
    return (await connection.read<readonly [string]>(statement, asker)).map(([text]) => text);
  }

  async function metadata(plan: MetadataPlan, asker: Asker) {
    const statement = compileMetadata(database, plan, limits);
    return (await connection.read<MetadataRow>(statement, asker)).map(toMetadata);
  }

  return {
    series: (plan, signal) => timed(events, 'series', series(plan, { ...plan, signal })),
    labelNames(plan, signal) {
      const statement = compileLabelNames(database, plan, limits);
      return timed(events, 'label_names', texts(statement, { ...plan, signal }));
    },
    labelValues(plan, name, signal) {
      const statement = compileLabelValues(database, plan, name, limits);
      return timed(events, 'label_values', texts(statement, { ...plan, signal }));
    },
    metricMetadata: (plan, signal) =>
      timed(events, 'metric_metadata', metadata(plan, { ...plan, signal })),
  };
}
