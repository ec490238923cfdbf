/**
 * Samples and native histograms of known series within a range of time, each once: of those at one
 * time the one received last. Pure.
 */
import type { SamplesPlan } from '../../model/metric-plan.ts';
import { RowReader } from './row-reader.ts';
import { limitsSql, Parameters, type ReadLimits, type Statement } from './statement.ts';
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

export function compileSamples(table: string, plan: SamplesPlan, step: SamplesStep): Statement {
  const params = new Parameters();
  const unique = uniqueRows(table, plan, { ...step, params });
  const sql = `SELECT SeriesId, groupArray(UnixMilli), groupArray(bits)
FROM
(
  SELECT SeriesId, UnixMilli, reinterpretAsUInt64(Value) AS bits
  ${unique}
)
GROUP BY SeriesId
${limitsSql(step.limits)},
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
  table: string,
  plan: SamplesPlan,
  step: SamplesStep,
): Statement {
  const params = new Parameters();
  const sql = `SELECT SeriesId, UnixMilli, Histogram
FROM
(
  SELECT SeriesId, UnixMilli, Histogram
  ${uniqueRows(table, plan, { ...step, params })}
)
ORDER BY SeriesId, UnixMilli
${limitsSql(step.limits)}
FORMAT RowBinary`;
  return { sql, params: params.values };
}

export function* decodeNativeHistograms(answer: Buffer): Generator<HistogramOfSeries> {
  const reader = new RowReader(answer);
  while (reader.hasMore()) {
    yield { seriesId: reader.uint128(), timeMs: reader.int64(), message: reader.string() };
  }
}

/** FINAL looks at one stream at a time. */
function uniqueRows(
  table: string,
  plan: SamplesPlan,
  { seriesIds, limit, params }: SamplesStep & { readonly params: Parameters },
): string {
  const conditions = rangeConditions(plan, seriesIds, params);
  const overStreams = `ORDER BY SeriesId, UnixMilli, ReceivedAt DESC
  LIMIT 1 BY SeriesId, UnixMilli
  `;
  return `FROM ${table} FINAL
  WHERE ${conditions.join('\n    AND ')}
  ${plan.streams.length > 1 ? overStreams : ''}LIMIT ${limit}`;
}

/** Whose rows, of which series, when. */
export function rangeConditions(
  plan: SamplesPlan,
  seriesIds: readonly string[],
  params: Parameters,
): string[] {
  return [
    ...ownerConditions(plan, params),
    `SeriesId IN ${params.add('Array(UInt128)', `[${seriesIds.join(',')}]`)}`,
    `UnixMilli >= ${params.add('Int64', plan.fromMs)}`,
    `UnixMilli <= ${params.add('Int64', plan.untilMs)}`,
  ];
}
