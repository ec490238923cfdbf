/**
 * Samples, native histograms and exemplars of known series in a range of time. Of several rows for
 * one time, the last received counts. Pure.
 */

import { RowReader } from '../../codec/row-reader.ts';
import type { Exemplar, Label, SamplesPlan } from '../../model/metric-plan.ts';
import { toLabelPairs } from './series.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from './statement.ts';
import { ownerConditions } from './streams.ts';
import { type StoredTable, tableName } from './tables.ts';

/** One statement of a read, for some of the series of a plan. */
export interface SamplesStep {
  /** Ids in decimal digits, at least one. */
  readonly seriesIds: readonly string[];
  /** Most rows returned. */
  readonly limit: number;
  readonly limits: ReadLimits;
}

/** One series: its id and its samples in any order. */
export interface SamplesRow {
  readonly seriesId: bigint;
  readonly times: BigInt64Array;
  readonly values: BigUint64Array;
}

export function compileSamples(database: string, plan: SamplesPlan, step: SamplesStep): Statement {
  return statement((params) =>
    samplesSql(uniqueRows({ database, table: 'samples' }, plan, step, params), step),
  );
}

/** All rows, of one time perhaps several: takes half the time. */
export function compileStoredSamples(
  database: string,
  plan: SamplesPlan,
  step: SamplesStep,
): Statement {
  return statement((params) => {
    const conditions = rangeConditions('samples', plan, step, params).join('\n    AND ');
    const rows = `FROM ${tableName(database, 'samples')}
  WHERE ${conditions}
  LIMIT ${step.limit}`;
    return samplesSql(rows, step);
  });
}

function samplesSql(rows: string, { limits }: SamplesStep): string {
  return `SELECT SeriesId, groupArray(UnixMilli), groupArray(bits)
FROM
(
  SELECT SeriesId, UnixMilli, reinterpretAsUInt64(Value) AS bits
  ${rows}
)
GROUP BY SeriesId
${limitsSql(limits)},
  optimize_move_to_prewhere_if_final = 1,
  max_result_bytes = 0
FORMAT RowBinary`;
}

export function* decodeSamples(result: Buffer): Generator<SamplesRow> {
  const reader = new RowReader(result);
  while (reader.hasMore()) {
    const seriesId = reader.uint128();
    const times = new BigInt64Array(reader.wordArray());
    const values = new BigUint64Array(reader.wordArray());
    yield { seriesId, times, values };
  }
}

export interface HistogramOfSeries {
  readonly seriesId: bigint;
  readonly timeMs: bigint;
  readonly message: Uint8Array;
}

/** Sorted by series and time. */
export function compileNativeHistograms(
  database: string,
  plan: SamplesPlan,
  step: SamplesStep,
): Statement {
  return statement(
    (params) => `SELECT SeriesId, UnixMilli, Histogram
FROM
(
  SELECT SeriesId, UnixMilli, Histogram
  ${uniqueRows({ database, table: 'histograms' }, plan, step, params)}
)
ORDER BY SeriesId, UnixMilli
${limitsSql(step.limits)},
  optimize_move_to_prewhere_if_final = 1
FORMAT RowBinary`,
  );
}

export function* decodeNativeHistograms(result: Buffer): Generator<HistogramOfSeries> {
  const reader = new RowReader(result);
  while (reader.hasMore()) {
    yield { seriesId: reader.uint128(), timeMs: reader.int64(), message: reader.string() };
  }
}

/** Series id, time, bits of the value (each in decimal digits), names and values of labels. */
export type ExemplarRow = readonly [string, string, string, readonly string[], readonly string[]];

/** Sorted by series and time; an exemplar in several streams is returned once. */
export function compileExemplars(
  database: string,
  plan: SamplesPlan,
  step: SamplesStep,
): Statement {
  return statement(
    (params) => `SELECT
  toString(SeriesId), toString(UnixMilli), toString(reinterpretAsUInt64(Value)),
  mapKeys(Labels), mapValues(Labels)
FROM ${tableName(database, 'exemplars')} FINAL
WHERE ${rangeConditions('exemplars', plan, step, params).join('\n  AND ')}
ORDER BY SeriesId, UnixMilli, Digest
LIMIT 1 BY SeriesId, UnixMilli, Digest
LIMIT ${step.limit}
${limitsSql(step.limits)},
  optimize_move_to_prewhere_if_final = 1`,
  );
}

export function toExemplar(seriesLabels: readonly Label[], row: ExemplarRow): Exemplar {
  const [, time, bits, names, values] = row;
  const double = new DataView(new ArrayBuffer(8));
  double.setBigUint64(0, BigInt(bits));
  return {
    seriesLabels,
    labels: toLabelPairs(names, values),
    timeMs: BigInt(time),
    value: double.getFloat64(0),
  };
}

/**
 * FINAL deduplicates within one stream. Filtering before it is safe: each condition is on the key
 * of the table, or holds for the last received row of a key if it holds for any of its rows.
 */
function uniqueRows(
  { database, table }: { readonly database: string; readonly table: StoredTable },
  plan: SamplesPlan,
  step: SamplesStep,
  params: Parameters,
): string {
  const overStreams = `ORDER BY SeriesId, UnixMilli, ReceivedAt DESC
  LIMIT 1 BY SeriesId, UnixMilli
  `;
  return `FROM ${tableName(database, table)} FINAL
  WHERE ${rangeConditions(table, plan, step, params).join('\n    AND ')}
  ${plan.streams.length > 1 ? overStreams : ''}LIMIT ${step.limit}`;
}

function rangeConditions(
  table: StoredTable,
  plan: SamplesPlan,
  { seriesIds }: SamplesStep,
  params: Parameters,
): string[] {
  return [
    ...ownerConditions(table, plan, params),
    `SeriesId IN ${params.ids(seriesIds)}`,
    `UnixMilli >= ${params.add('Int64', plan.fromMs)}`,
    `UnixMilli <= ${params.add('Int64', plan.untilMs)}`,
  ];
}
