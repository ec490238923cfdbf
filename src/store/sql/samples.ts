/**
 * Samples and native histograms of known series within a range of time, each once: of those at one
 * time the one received last. Pure.
 */
import type { SamplesPlan } from '../../model/metric-plan.ts';
import { tableName } from './columns.ts';
import { RowReader } from './row-reader.ts';
import { limitsSql, Parameters, type ReadLimits, type Statement } from './statement.ts';
import type { StoredTable } from './stored-tables.ts';
import { ownerConditions } from './streams.ts';

/** What one step of a read asks: some of the series of a plan. */
export interface SamplesStep {
  /** Ids in decimal digits, at least one. */
  readonly seriesIds: readonly string[];
  /** Rows beyond this are not answered. */
  readonly limit: number;
  readonly limits: ReadLimits;
}

/** One row a series: its id and its samples, side by side and in any order. */
export interface SamplesRow {
  readonly seriesId: bigint;
  readonly times: BigInt64Array;
  readonly values: BigUint64Array;
}

export function compileSamples(database: string, plan: SamplesPlan, step: SamplesStep): Statement {
  const params = new Parameters();
  const unique = uniqueRows({ database, table: 'samples' }, plan, { ...step, params });
  const sql = `SELECT SeriesId, groupArray(UnixMilli), groupArray(bits)
FROM
(
  SELECT SeriesId, UnixMilli, reinterpretAsUInt64(Value) AS bits
  ${unique}
)
GROUP BY SeriesId
${limitsSql(step.limits)},
  optimize_move_to_prewhere_if_final = 1,
  max_result_bytes = 0
FORMAT RowBinary`;
  return { sql, params: params.values };
}

export function* decodeSamples(answer: Buffer): Generator<SamplesRow> {
  const reader = new RowReader(answer);
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
  const params = new Parameters();
  const unique = uniqueRows({ database, table: 'histograms' }, plan, { ...step, params });
  const sql = `SELECT SeriesId, UnixMilli, Histogram
FROM
(
  SELECT SeriesId, UnixMilli, Histogram
  ${unique}
)
ORDER BY SeriesId, UnixMilli
${limitsSql(step.limits)},
  optimize_move_to_prewhere_if_final = 1
FORMAT RowBinary`;
  return { sql, params: params.values };
}

export function* decodeNativeHistograms(answer: Buffer): Generator<HistogramOfSeries> {
  const reader = new RowReader(answer);
  while (reader.hasMore()) {
    yield { seriesId: reader.uint128(), timeMs: reader.int64(), message: reader.string() };
  }
}

/**
 * FINAL looks at one stream at a time. Rows may be filtered before it: all conditions are on the
 * key of the table, or hold for the row received last where they hold for any other of its key.
 */
function uniqueRows(
  { database, table }: { readonly database: string; readonly table: StoredTable },
  plan: SamplesPlan,
  { seriesIds, limit, params }: SamplesStep & { readonly params: Parameters },
): string {
  const conditions = rangeConditions(table, plan, { seriesIds, params });
  const overStreams = `ORDER BY SeriesId, UnixMilli, ReceivedAt DESC
  LIMIT 1 BY SeriesId, UnixMilli
  `;
  return `FROM ${tableName(database, table)} FINAL
  WHERE ${conditions.join('\n    AND ')}
  ${plan.streams.length > 1 ? overStreams : ''}LIMIT ${limit}`;
}

/** Whose rows, of which series, when. */
export function rangeConditions(
  table: StoredTable,
  plan: SamplesPlan,
  { seriesIds, params }: { readonly seriesIds: readonly string[]; readonly params: Parameters },
): string[] {
  return [
    ...ownerConditions(table, plan, params),
    `SeriesId IN ${params.add('Array(UInt128)', `[${seriesIds.join(',')}]`)}`,
    `UnixMilli >= ${params.add('Int64', plan.fromMs)}`,
    `UnixMilli <= ${params.add('Int64', plan.untilMs)}`,
  ];
}
