/**
 * The INSERT of batches of layout `logs/1`. A batch is one outer row: the values that its rows have
 * in common, and the rows in the bytes that the queue keeps; the store unpacks them. Pure.
 */
import { logRowFields } from '../../codec/log-rows.ts';
import type { StampedBatch } from '../../model/batch.ts';
import { tieBits } from '../../model/log-id.ts';
import { passCondition } from './fences.ts';
import { insertSettings, type InsertTarget, rowsPerBlock } from './insert-settings.ts';
import { allSearchIndexes } from './search-indexes.ts';
import { type InsertStatement, Parameters } from './statement.ts';
import { everyReplica, localTable, type Placement, tableName } from './tables.ts';

export type InsertMode = 'all' | 'missing';

const rowTuple = logRowFields.map(([name, type]) => `${name} ${type}`).join(', ');

/** Structure of an outer RowBinary row, which outer-rows.ts encodes. */
const outerStructure = `batch UInt128,
  receivedAt Int64,
  accountId LowCardinality(String),
  streamId LowCardinality(String),
  receiverId LowCardinality(String),
  rows Array(Tuple(${rowTuple}))`;

/** Columns of `logs` as expressions over an outer row and its row `r`, number `n` from 1. */
const columns: readonly (readonly [string, string])[] = [
  ['Timestamp', orReceivedAt(field('timestamp'))],
  ['ObservedTimestamp', orReceivedAt(field('observedTimestamp'))],
  ['ReceivedAt', "fromUnixTimestamp64Nano(receivedAt, 'UTC')"],
  ['AccountId', 'accountId'],
  ['StreamId', 'streamId'],
  ['ReceiverId', 'receiverId'],
  ['Batch', 'batch'],
  ['Row', 'toUInt32(n - 1)'],
  ['Tie', tieExpression()],
  ...logRowFields
    .filter(([name]) => name !== 'timestamp' && name !== 'observedTimestamp')
    .map(([name]) => [capitalized(name), field(name)] as const),
];

/**
 * @param batches at least one.
 * @returns the INSERT; its body is `encodeOuterRows` of the same batches.
 */
export function compileInsert(
  target: InsertTarget,
  batches: readonly StampedBatch[],
  mode: InsertMode,
): InsertStatement {
  const { placement, pass } = target;
  const params = new Parameters();
  const names = columns.map(([name]) => name).join(', ');
  const expressions = columns.map(([, expression]) => expression).join(',\n  ');
  const conditions = [
    ...(pass === undefined ? [] : [passCondition(placement, pass, params)]),
    ...(mode === 'missing' ? [missingCondition(placement, batches, params)] : []),
  ];
  const where = conditions.length === 0 ? '' : `\nWHERE ${conditions.join('\n  AND ')}`;
  const sql = `INSERT INTO ${tableName(placement.database, 'logs')} (${names})
SELECT
  ${expressions}
FROM input('${outerStructure}')
ARRAY JOIN rows AS r, arrayEnumerate(rows) AS n${where}
${insertSettings(batches, target)},
  exclude_materialize_skip_indexes_on_insert = '${allSearchIndexes}'
FORMAT RowBinary`;
  return { sql, params: params.values, queryId: pass?.queryId };
}

/**
 * Only rows that are not stored, bounded by time of receipt (partitions) and batch id (minmax
 * index). Reads every replica of a cluster, since one may lag, and skips nodes that are down: the
 * shard is fenced by then.
 */
function missingCondition(
  placement: Placement,
  batches: readonly StampedBatch[],
  params: Parameters,
): string {
  const spans = batches.map(({ receivedAtNanos, copies }) => {
    return copies ?? { fromNanos: receivedAtNanos, untilNanos: receivedAtNanos };
  });
  const from = least(spans.map((span) => span.fromNanos));
  const until = -least(spans.map((span) => -span.untilNanos));
  const idsByWriter = Map.groupBy(batches, (batch) => batch.id.writer);
  const ranges = [...idsByWriter].map(([writer, own]) => {
    const sequences = own.map((batch) => batch.id.sequence).sort(compareBigints);
    const first = params.add('UInt128', (writer << 64n) | sequences[0]!);
    const last = params.add('UInt128', (writer << 64n) | sequences.at(-1)!);
    return `Batch BETWEEN ${first} AND ${last}`;
  });
  const away = placement.cluster === undefined ? '' : ', skip_unavailable_shards = 1';
  return `(batch, toUInt32(n - 1)) NOT IN (
  SELECT Batch, Row FROM ${everyReplica(placement, localTable(placement, 'logs'))}
  WHERE ReceivedAt BETWEEN ${params.time(from)} AND ${params.time(until)}
    AND (${ranges.join(' OR ')})
  SETTINGS max_block_size = ${rowsPerBlock}${away})`;
}

function least(values: readonly bigint[]): bigint {
  return values.reduce((low, value) => (value < low ? value : low));
}

/** `r.name` takes twice as long to plan and a third longer to run. */
function field(name: (typeof logRowFields)[number][0]): string {
  return `tupleElement(r, '${name}')`;
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function orReceivedAt(time: string): string {
  return `fromUnixTimestamp64Nano(if(${time} < 0, receivedAt, ${time}), 'UTC')`;
}

/** `toTie` of the model in SQL; the mask drops what overflows 64 bits. */
function tieExpression(): string {
  const writer = 'toUInt64(bitShiftRight(batch, 64))';
  const sequence = 'toUInt64(bitAnd(batch, 18446744073709551615))';
  const mask = (1n << tieBits) - 1n;
  return `bitAnd(${writer} + bitShiftLeft(${sequence}, 20) + toUInt64(n - 1), toUInt64(${mask}))`;
}

function compareBigints(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
