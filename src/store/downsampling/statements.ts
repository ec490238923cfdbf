/** Statements that delete samples of old days but the last of each interval. Pure. */
import { alterSql, checkedDay, mutationsSync } from '../sql/housekeeping.ts';
import { type Parameters, type Statement, statement } from '../sql/statement.ts';
import { localTable, type Placement, tableName } from '../sql/tables.ts';

/** Tables of metrics with many rows for a series. */
export const sampleTables = ['samples', 'histograms'] as const;

/** A day of receipt of the streams that keep one sample per interval of it. */
export interface DownsampledDay {
  readonly table: (typeof sampleTables)[number];
  /** YYYYMMDD. */
  readonly day: string;
  readonly intervalMs: number;
  readonly streams: readonly StreamOwner[];
}

export interface StreamOwner {
  readonly accountId: string;
  /** Unique among all accounts. */
  readonly streamId: string;
}

/** Some of the series: those whose id leaves the remainder `index` when divided by `count`. */
export interface SeriesShare {
  readonly index: number;
  readonly count: number;
}

/** A stream with rows to delete, its rows that stay, and those in all. */
export type DownsampledCounts = readonly [streamId: string, kept: string, rows: string];

/**
 * A stale marker ends a series, so it stays beside the last value: the only sample of a short
 * series could be the marker otherwise. In a histogram it is the `sum`, field 3 of the message.
 */
const isStale = {
  samples: 'Integer = 0 AND Bits = 0x7ff0000000000002',
  histograms: "position(Histogram, unhex('19020000000000f07f')) > 0",
} as const;

export function compileCountDownsampled({ database }: Placement, of: DownsampledDay): Statement {
  return statement(
    (params) => `SELECT StreamId, toString(count()), toString(sum(stored))
FROM
(
  SELECT StreamId, count() AS stored, min(UnixMilli) AS first, max(UnixMilli) AS last
  ${intervalsSql(tableName(database, of.table), of, params)}
)
GROUP BY StreamId
HAVING countIf(first != last) > 0
SETTINGS ${inOrder}`,
  );
}

/**
 * Deletes the samples of a day of receipt except the last of each interval of a series. Intervals
 * end at multiples of their length, included, as those of VictoriaMetrics, so that a query at these
 * times finds the sample that it found before.
 *
 * May be repeated, and interrupted: rows that stay are the last of their intervals in what is left,
 * and rows that are inserted meanwhile are not deleted. Digests of 8 bytes take a third of the
 * memory of series and time, and where two are equal a row stays.
 */
export function compileDownsample(
  placement: Placement,
  of: DownsampledDay,
  share: SeriesShare,
): Statement {
  const { table } = of;
  return statement((params) => {
    const isInShare = `modulo(toUInt64(SeriesId), ${share.count}) = ${share.index}`;
    return `${alterSql(placement, table)} DELETE IN PARTITION ID '${checkedDay(of.day)}'
WHERE ${ownerSql(of, params)} AND ${isInShare}
  AND sipHash64(SeriesId, UnixMilli) NOT IN
  (
    SELECT sipHash64(SeriesId, max(UnixMilli))
    ${intervalsSql(localTable(placement, table), of, params, `\n      AND ${isInShare}`)}
    SETTINGS ${inOrder}
  )
${mutationsSync(placement)}, allow_nondeterministic_mutations = 1`;
  });
}

/**
 * Aggregates in the order of the table, so that the intervals of one series are in memory. Where
 * the aggregation is a subquery of FROM it has an effect outside of it only.
 */
const inOrder = 'optimize_aggregation_in_order = 1';

function intervalsSql(
  table: string,
  of: DownsampledDay,
  params: Parameters,
  isInShare = '',
): string {
  return `FROM ${table}
    WHERE ${ownerSql(of, params)}
      AND toYYYYMMDD(ReceivedAt, 'UTC') = ${checkedDay(of.day)}${isInShare}
    GROUP BY AccountId, StreamId, SeriesId, intDiv(UnixMilli - 1, ${of.intervalMs}),
      ${isStale[of.table]}`;
}

function ownerSql({ streams }: DownsampledDay, params: Parameters): string {
  const accountIds = [...new Set(streams.map(({ accountId }) => accountId))];
  const streamIds = streams.map(({ streamId }) => streamId);
  return `AccountId ${params.anyOf(accountIds)} AND StreamId ${params.anyOf(streamIds)}`;
}
