/**
 * The one statement that stores batches of layout `logs/1`. Each batch is one outer row: what is
 * the same for all its rows, then the rows themselves exactly as the queue keeps them; the store
 * takes them apart. Pure.
 */
import type { StampedBatch } from '../../model/batch.ts';
import { tieBits } from '../../model/log-id.ts';
import { logRowFields } from '../../model/log-rows.ts';
import { searchIndexes } from './columns.ts';
import { insertSettings, rowsPerBlock } from './insert-settings.ts';
import { Parameters, type Statement } from './statement.ts';

export type InsertMode = 'all' | 'missing';

const rowTuple = logRowFields.map(([name, type]) => `${name} ${type}`).join(', ');

/** The structure of one outer RowBinary row; outer-rows.ts writes it. */
const outerStructure = `batch UInt128,
  receivedAt Int64,
  accountId LowCardinality(String),
  streamId LowCardinality(String),
  receiverId LowCardinality(String),
  rows Array(Tuple(${rowTuple}))`;

/**
 * Column of `logs` and its expression over an outer row joined with one of its rows `r`, numbered
 * `n` from 1.
 */
const columns: readonly (readonly [string, string])[] = [
  ['Timestamp', orReceivedAt('r.timestamp')],
  ['ObservedTimestamp', orReceivedAt('r.observedTimestamp')],
  ['ReceivedAt', "fromUnixTimestamp64Nano(receivedAt, 'UTC')"],
  ['AccountId', 'accountId'],
  ['StreamId', 'streamId'],
  ['ReceiverId', 'receiverId'],
  ['Batch', 'batch'],
  ['Row', 'toUInt32(n - 1)'],
  ['Tie', tieExpression()],
  ['SeverityText', 'r.severityText'],
  ['SeverityNumber', 'r.severityNumber'],
  ['ServiceName', 'r.serviceName'],
  ['ServiceNamespace', 'r.serviceNamespace'],
  ['Host', 'r.host'],
  ['Body', 'r.body'],
  ['TraceId', 'r.traceId'],
  ['SpanId', 'r.spanId'],
  ['TraceFlags', 'r.traceFlags'],
  ['K8sCluster', 'r.k8sCluster'],
  ['K8sNamespace', 'r.k8sNamespace'],
  ['K8sNode', 'r.k8sNode'],
  ['K8sPod', 'r.k8sPod'],
  ['K8sContainer', 'r.k8sContainer'],
  ['K8sDeployment', 'r.k8sDeployment'],
  ['LogAttributes', 'r.logAttributes'],
  ['ResourceAttributes', 'r.resourceAttributes'],
  ['ResourceSchemaUrl', 'r.resourceSchemaUrl'],
  ['ScopeName', 'r.scopeName'],
  ['ScopeVersion', 'r.scopeVersion'],
  ['ScopeSchemaUrl', 'r.scopeSchemaUrl'],
  ['ScopeAttributes', 'r.scopeAttributes'],
  ['EventName', 'r.eventName'],
];

/**
 * @param batches at least one.
 * @returns the INSERT, to be followed by the body that `encodeOuterRows` makes of the same batches.
 */
export function compileInsert(
  table: string,
  batches: readonly StampedBatch[],
  mode: InsertMode,
): Statement {
  const params = new Parameters();
  const names = columns.map(([name]) => name).join(', ');
  const expressions = columns.map(([, expression]) => expression).join(',\n  ');
  const stored = mode === 'missing' ? storedSql(table, batches, params) : '';
  const condition = stored && `\nWHERE (batch, toUInt32(n - 1)) NOT IN (${stored})`;
  const sql = `INSERT INTO ${table} (${names})
SELECT
  ${expressions}
FROM input('${outerStructure}')
ARRAY JOIN rows AS r, arrayEnumerate(rows) AS n${condition}
${insertSettings(batches)},
  exclude_materialize_skip_indexes_on_insert = '${searchIndexes.join(',')}'
FORMAT RowBinary`;
  return { sql, params: params.values };
}

/**
 * Which rows of these batches exist: bounded by time of receipt (partitions) and by batch id
 * (minmax index).
 */
function storedSql(table: string, batches: readonly StampedBatch[], params: Parameters): string {
  const times = batches.map((batch) => batch.receivedAtNanos).sort(compareBigints);
  const idsByWriter = Map.groupBy(batches, (batch) => batch.id.writer);
  const ranges = [...idsByWriter].map(([writer, own]) => {
    const sequences = own.map((batch) => batch.id.sequence).sort(compareBigints);
    const first = params.add('UInt128', (writer << 64n) | sequences[0]!);
    const last = params.add('UInt128', (writer << 64n) | sequences.at(-1)!);
    return `Batch BETWEEN ${first} AND ${last}`;
  });
  return `
  SELECT Batch, Row FROM ${table}
  WHERE ReceivedAt BETWEEN ${params.time(times[0]!)} AND ${params.time(times.at(-1)!)}
    AND (${ranges.join(' OR ')})
  SETTINGS max_block_size = ${rowsPerBlock}`;
}

function orReceivedAt(time: string): string {
  return `fromUnixTimestamp64Nano(if(${time} < 0, receivedAt, ${time}), 'UTC')`;
}

/** `toTie` of the model in SQL; what passes 64 bits wraps, and the mask cuts it off. */
function tieExpression(): string {
  const writer = 'toUInt64(bitShiftRight(batch, 64))';
  const sequence = 'toUInt64(bitAnd(batch, 18446744073709551615))';
  const mask = (1n << tieBits) - 1n;
  return `bitAnd(${writer} + bitShiftLeft(${sequence}, 20) + toUInt64(n - 1), toUInt64(${mask}))`;
}

function compareBigints(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
