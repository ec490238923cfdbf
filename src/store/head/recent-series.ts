/** The series of a stream on its recent days, as memory holds them. Pure. */

import { RowReader } from '../../codec/row-reader.ts';
import type { Label } from '../../model/metric-plan.ts';
import type { ReadableStream } from '../../model/plan.ts';
import { seriesConditions } from '../sql/series.ts';
import { limitsSql, type ReadLimits, type Statement, statement } from '../sql/statement.ts';
import { ownerConditions } from '../sql/streams.ts';
import { tableName } from '../sql/tables.ts';

export interface RecentSeries {
  readonly accountId: string;
  readonly stream: ReadableStream;
  /** Unix ms at the start of a UTC day. */
  readonly fromMs: bigint;
  /** Most series. */
  readonly limit: number;
}

export interface RecentSeriesRow {
  /** Four words, lowest first. */
  readonly id: Uint32Array;
  /** Days since 1970. */
  readonly days: readonly number[];
  readonly labels: readonly Label[];
}

const farMs = 1n << 52n;

export function compileRecentSeries(
  database: string,
  { accountId, stream, fromMs, limit }: RecentSeries,
  limits: ReadLimits,
): Statement {
  const filter = { accountId, streams: [stream], selectors: [], fromMs, untilMs: farMs };
  return statement(
    (
      params,
    ) => `SELECT SeriesId, groupUniqArray(toUInt16(Day)), CAST(any(Labels), 'Map(String, String)')
FROM ${tableName(database, 'series')}
WHERE ${seriesConditions(filter, params)}
GROUP BY SeriesId
LIMIT ${limit}
${limitsSql(limits)}
FORMAT RowBinary`,
  );
}

export function* decodeRecentSeries(result: Buffer): Generator<RecentSeriesRow> {
  const reader = new RowReader(result);
  while (reader.hasMore()) {
    const id = reader.words128();
    const days = Array.from({ length: reader.varint() }, () => reader.uint16());
    yield { id, days, labels: reader.labels() };
  }
}

/** The section `series` of a batch; see codec/metric-rows.ts. */
export function* decodeSeriesSection(section: Uint8Array): Generator<RecentSeriesRow> {
  const reader = new RowReader(section);
  for (let left = section.length === 0 ? 0 : reader.varint(); left > 0; left--) {
    const id = reader.words128();
    const days = [reader.uint16()];
    yield { id, days, labels: reader.labels() };
  }
}

/** Ids of series with native histograms, as rows of 16 bytes. */
export function compileHistogramSeries(
  database: string,
  { accountId, stream, fromMs, limit }: RecentSeries,
  limits: ReadLimits,
): Statement {
  return statement((params) => {
    const owner = ownerConditions('histograms', { accountId, streams: [stream] }, params);
    return `SELECT DISTINCT SeriesId
FROM ${tableName(database, 'histograms')}
WHERE ${owner.join('\n  AND ')}
  AND UnixMilli >= ${params.add('Int64', fromMs)}
LIMIT ${limit}
${limitsSql(limits)}
FORMAT RowBinary`;
  });
}

/** Ids in the results of `compileHistogramSeries` and in the section `histograms`. */
export function* decodeIds(result: Buffer): Generator<Uint32Array> {
  const reader = new RowReader(result);
  while (reader.hasMore()) yield reader.words128();
}

export function* decodeHistogramIds(section: Uint8Array): Generator<Uint32Array> {
  const reader = new RowReader(section);
  for (let left = section.length === 0 ? 0 : reader.varint(); left > 0; left--) {
    yield reader.words128();
    reader.int64();
    reader.string();
  }
}

/** The section `samples`: three arrays of the same length, as words of 32 bits. */
export interface SampleWords {
  readonly count: number;
  /** Four for each sample, lowest first. */
  readonly ids: Uint32Array;
  /** Two for each sample, lowest first. */
  readonly times: Int32Array;
  readonly values: Uint32Array;
}

export function decodeSamplesSection(section: Uint8Array): SampleWords {
  const reader = new RowReader(section);
  const array = (wordsEach: number) => {
    const count = section.length === 0 ? 0 : reader.varint();
    return reader.copy(count * wordsEach * 4);
  };
  const ids = new Uint32Array(array(4));
  return {
    count: ids.length / 4,
    ids,
    times: new Int32Array(array(2)),
    values: new Uint32Array(array(2)),
  };
}
