/**
 * The skip indexes of fields, labels and messages, which inserts and merges omit and housekeeping
 * builds. Those of labels and messages have a coarse level, whose few filters rule out most
 * granules, and a fine one for what remains (docs/decisions/030-small-granules.md). Pure.
 */
import { type Parameters, type Statement, statement } from './statement.ts';
import { localEnding, localTable, type Placement } from './tables.ts';
import { labelPairs } from './where.ts';

/** Of the parts of a day: `large` when any has more than 2,048 rows in one. */
export type Granules = 'small' | 'large';

export const granuleSettings = 'index_granularity = 2048, index_granularity_bytes = 524288';
const maxGranuleRows = 2048;

/** The coarse indexes come first: ClickHouse applies them in this order. */
const definitions = {
  labels_coarse: `${labelPairs} TYPE bloom_filter(0.01) GRANULARITY 16`,
  labels_fine: `${labelPairs} TYPE bloom_filter(0.05) GRANULARITY 1`,
  message_coarse: 'lower(Body) TYPE ngrambf_v1(4, 32768, 1, 0) GRANULARITY 16',
  message_fine: 'lower(Body) TYPE ngrambf_v1(5, 6144, 1, 0) GRANULARITY 1',
} as const;

/** Indexes of parts with granules of 8,192 rows, which earlier versions wrote. */
const earlierIndexes = ['labels', 'message_ngrams'] as const;

/** Of fields that are compared as a whole (schema/006_logs.sql); any granules have them. */
const fieldIndexes = ['origins', 'traces'] as const;

/** Filters of whole words, for phrases with numbers or ids (schema/008_logs.sql). */
const wordIndex = 'message_words';

const wordBytes = 7168;
/** Of the filters of messages for each granule: fine, whole words, and a share of coarse. */
const leastFilterBytes = 6144 + wordBytes + 32_768 / 16;
/** More than the ranges of batches and arrivals, which inserts write. */
const leastEarlierBytes = 1024;

const searchIndexes = [...Object.keys(definitions), wordIndex];
/** Names that a table does not have are ignored by the settings that list them. */
export const allSearchIndexes = [...searchIndexes, ...earlierIndexes, ...fieldIndexes].join(',');

/** Those for the parts of a day. */
export function searchIndexesFor(granules: Granules): readonly string[] {
  return [...(granules === 'small' ? searchIndexes : earlierIndexes), ...fieldIndexes];
}

/** For rows of `system.parts`. A table without the indexes for small granules has large ones. */
export function granulesSql(placement: Placement, params: Parameters): string {
  const table = placement.cluster === undefined ? 'logs' : `logs${localEnding}`;
  return `if(rows > ${maxGranuleRows} * marks OR (
    SELECT count() FROM system.data_skipping_indices
    WHERE database = ${params.add('String', placement.database)}
      AND table = '${table}' AND name = 'message_fine'
  ) = 0, 'large', 'small')`;
}

/**
 * For rows of `system.parts`, which have the size of all indexes only: filters of messages have a
 * fixed size, those of a part without any of them are smaller. The column `granules` is that of
 * `granulesSql`.
 */
export const isIndexedSql =
  'secondary_indices_uncompressed_bytes >= ' +
  `if(granules = 'small', ${leastFilterBytes}, ${leastEarlierBytes}) * greatest(marks - 1, 1)`;

/**
 * One row, 1 where `isIndexedSql` is right: filters of labels may be as large as those of words,
 * which parts of an earlier version lack.
 */
export function compileIndexedParts(placement: Placement): Statement {
  return statement((params) => {
    const table = `table = 'logs' AND database = ${params.add('String', placement.database)}`;
    return `SELECT countIf(granules = 'large') = 0
  AND ${wordBytes} * sumIf(marks - 1, isIndexed) <= (
    SELECT sum(data_uncompressed_bytes) FROM system.data_skipping_indices
    WHERE ${table} AND name = '${wordIndex}'
  )
FROM (
  SELECT marks, ${granulesSql(placement, params)} AS granules,
    ${isIndexedSql} AS isIndexed
  FROM system.parts WHERE active AND ${table}
)`;
  });
}

/** For CREATE TABLE. */
export function searchIndexColumns(): string {
  return indexSql('INDEX').join(',\n    ');
}

/** Brings the indexes of a table of an earlier version up to date. */
export function compileAddSearchIndexes(placement: Placement): Statement {
  const table = localTable(placement, 'logs');
  const changes = [
    ...indexSql('ADD INDEX IF NOT EXISTS'),
    `MODIFY SETTING exclude_materialize_skip_indexes_on_merge = '${allSearchIndexes}'`,
  ];
  return { sql: `ALTER TABLE ${table} ${changes.join(', ')}`, params: {} };
}

function indexSql(verb: string): string[] {
  return Object.entries(definitions).map(([name, definition]) => `${verb} ${name} ${definition}`);
}
