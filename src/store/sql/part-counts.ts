/** Parts of the table of logs, and counts of the logs in one of them. Pure. */
import { RowReader } from '../../codec/row-reader.ts';
import {
  type EqualityField,
  isLabelField,
  type LabelField,
  logFields,
} from '../../model/log-fields.ts';
import { rowValueSql, severityKeySql, severityTextSql } from './field-sql.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from './statement.ts';
import { localTable, type Placement } from './tables.ts';

/** Name, rows, seconds since it was written. */
export type LogPartRow = readonly [name: string, rows: string, ageSeconds: number];

export function compileLogParts({ database }: Placement): Statement {
  return statement(
    (params) => `SELECT name, toString(rows), toUInt32(now() - modification_time)
FROM system.parts
WHERE active AND table = 'logs' AND database = ${params.add('String', database)}
ORDER BY name`,
  );
}

/** The labels that the most logs have and that have few values, in blocks of one part. */
export function compileFrequentLabels(
  placement: Placement,
  of: {
    readonly accountId: string;
    readonly part: string;
    /** One block of so many is read. */
    readonly every: number;
    readonly maxValues: number;
    readonly limit: number;
  },
): Statement {
  const all = (half: string) => `arrayConcat(${half}(LogAttributes), ${half}(ResourceAttributes))`;
  return statement(
    (params) => `SELECT tupleElement(pair, 1) AS key
FROM
(
  SELECT arrayJoin(arrayZip(${all('mapKeys')}, ${all('mapValues')})) AS pair
  FROM ${localTable(placement, 'logs')}
  WHERE AccountId = ${params.add('String', of.accountId)}
    AND _part = ${params.add('String', of.part)}
    AND ${blockSql(of.every)}
)
GROUP BY key
HAVING uniq(tupleElement(pair, 2)) <= ${of.maxValues}
ORDER BY count() DESC, key
LIMIT ${of.limit}`,
  );
}

/** One block of rows of a part in so many, the size of the largest granules. */
export function blockSql(every: number): string {
  return `intDiv(_part_offset, 2048) % ${every} = 0`;
}

/** Name, and a checksum of all files of the part. */
export type PartHashRow = readonly [name: string, hash: string];

export function compilePartHashes({ database }: Placement): Statement {
  return statement(
    (params) => `SELECT name, hash_of_all_files
FROM system.parts
WHERE active AND table = 'logs' AND database = ${params.add('String', database)}`,
  );
}

/** Part, event times in Unix ns between which its rows of an account begin. */
export type PartSpanRow = readonly [name: string, fromNanos: string, untilNanos: string];

/** From the primary index; a part without a granule of the account has no row. */
export function compilePartSpans(
  { database }: Placement,
  accountId: string,
  parts: readonly string[],
): Statement {
  return statement(
    (params) => `SELECT part_name, toString(toUnixTimestamp64Nano(min(Timestamp))),
  toString(toUnixTimestamp64Nano(max(Timestamp)))
FROM mergeTreeIndex('${database}', 'logs')
WHERE AccountId = ${params.add('String', accountId)} AND part_name ${params.anyOf(parts)}
GROUP BY part_name`,
  );
}

/** The accounts with the most rows, of `minRows` at least, from the primary index. */
export function compileLargestAccounts(
  { database }: Placement,
  { minRows, limit }: { readonly minRows: number; readonly limit: number },
): Statement {
  const sql = `SELECT toString(AccountId)
FROM mergeTreeIndex('${database}', 'logs')
GROUP BY AccountId
HAVING sum(rows_in_granule) >= ${minRows}
ORDER BY sum(rows_in_granule) DESC, AccountId
LIMIT ${limit}`;
  return { sql, params: {} };
}

/** What logs are counted by. */
export type CountField = EqualityField | LabelField;

export interface CountKey {
  readonly part: string;
  readonly accountId: string;
  readonly fields: readonly CountField[];
}

/**
 * Stream, values of the fields, first ticks of steps in ascending order, logs in each, ticks of the
 * first and the last log.
 */
export type PartCountRow = readonly [
  streamId: string,
  values: readonly string[],
  ticks: readonly number[],
  counts: readonly number[],
  first: number,
  last: number,
];

/** A tick is the unit of the time of counts, 1 ms. */
export const nanosPerTick = 1_000_000n;

/** Ticks that one count spans: 100 ms, 1 s, 10 s, a minute, an hour or a day. */
export const countSteps = [100, 1_000, 10_000, 60_000, 3_600_000, 86_400_000] as const;
export type CountStep = (typeof countSteps)[number];

export function byStep<Value>(toValue: (step: CountStep) => Value): Record<CountStep, Value> {
  const entries = countSteps.map((step) => [step, toValue(step)]);
  return Object.fromEntries(entries) as Record<CountStep, Value>;
}

/**
 * The number of the step from 1970 on. Finds granules by the sort order; toStartOfMinute does too,
 * but wraps around in 2106.
 */
function stepSql(step: CountStep): string {
  return `intDiv(toUnixTimestamp64Nano(Timestamp), ${BigInt(step) * nanosPerTick})`;
}

/** More combinations of stream and values than this take too much memory for each count. */
const maxGroups = 100_000;

/**
 * The statement fails beyond `maxCounts`, or beyond `maxGroups`. It groups by hashes: stream and
 * values themselves as keys take twice the time. Groups that spill to disk would not be counted
 * together, and two threads would have groups of their own.
 */
export function compilePartCounts(
  placement: Placement,
  of: CountKey,
  { step, maxCounts }: { readonly step: CountStep; readonly maxCounts: number },
): Statement {
  return statement((params) => {
    const fields = of.fields.map((field) => countedSql(field, params));
    const texts = fields.map((_, i) => `toString(any(value${i}))`);
    const columns = fields.map(({ value }, i) => `${value} AS value${i}`);
    const tickOf = (time: string) => `toFloat64(toUnixTimestamp64Milli(${time}))`;
    return `SELECT any(stream), CAST([${texts.join(', ')}] AS Array(String)),
  arraySort(groupArray(tick) AS ticks), arraySort((n, tick) -> tick, groupArray(n), ticks),
  ${tickOf('min(first)')}, ${tickOf('max(last)')}
FROM
(
  SELECT ${['any(StreamId) AS stream', ...columns].join(', ')},
    ${groupKeySql(fields)} AS key, min(Timestamp) AS first, max(Timestamp) AS last,
    toFloat64(${stepSql(step)} * ${step}) AS tick, toUInt32(count()) AS n
  FROM ${localTable(placement, 'logs')}
  WHERE AccountId = ${params.add('String', of.accountId)}
    AND _part = ${params.add('String', of.part)}
  GROUP BY key, tick
)
GROUP BY key
SETTINGS max_rows_to_group_by = ${maxCounts}, group_by_overflow_mode = 'throw', max_threads = 1,
  max_bytes_before_external_group_by = 0, max_bytes_ratio_before_external_group_by = 0,
  max_result_rows = ${maxGroups}, result_overflow_mode = 'throw'`;
  });
}

/** Part, stream, values of the fields, ticks of the rows in ascending order. */
export type KeptRow = readonly [
  part: string,
  streamId: string,
  values: readonly string[],
  ticks: Float64Array,
];

/** The time of each row of an account in a scope, by part, stream and values, in RowBinary. */
export function compileKeptRows(
  placement: Placement,
  { accountId, fields }: Omit<CountKey, 'part'>,
  { scope, limits }: { readonly scope: Scope; readonly limits: ReadLimits },
): Statement {
  return statement((params) => {
    const counted = fields.map((field) => countedSql(field, params));
    const texts = counted.map(({ value }) => `toString(${value})`);
    return `SELECT toString(_part), toString(any(StreamId)),
  CAST([${texts.join(', ')}] AS Array(String)),
  arraySort(groupArray(toFloat64(intDiv(toUnixTimestamp64Nano(Timestamp), ${nanosPerTick}))))
FROM ${localTable(placement, 'logs')}
WHERE AccountId = ${params.add('String', accountId)}
  AND ${scopeConditions(scope, params).join('\n  AND ')}
GROUP BY _part, ${groupKeySql(counted)}
${limitsSql(limits)}${scopeSettings(scope)}
FORMAT RowBinary`;
  });
}

export function decodeKeptRows(bytes: Uint8Array): KeptRow[] {
  const reader = new RowReader(bytes);
  const rows: KeptRow[] = [];
  while (reader.hasMore()) {
    const [part, streamId] = [reader.text(), reader.text()];
    const values = Array.from({ length: reader.varint() }, () => reader.text());
    rows.push([part, streamId, values, new Float64Array(reader.wordArray())]);
  }
  return rows;
}

interface CountedSql {
  /** UInt64, equal for rows of equal values only. */
  readonly key: string;
  /** Of a group. */
  readonly value: string;
}

/** A column of few values is hashed by value, not by row. */
function countedSql(field: CountField, params: Parameters): CountedSql {
  if (field === 'severity') {
    return { key: severityKeySql, value: severityTextSql(`any(${severityKeySql})`) };
  }
  const column = isLabelField(field) ? rowValueSql(field, params) : logFields[field].column;
  return { key: `sipHash64(${column})`, value: `any(${column})` };
}

/** Rotated, so that equal values of two fields do not cancel each other. */
function groupKeySql(fields: readonly CountedSql[]): string {
  return ['sipHash64(StreamId)', ...fields.map(({ key }) => key)]
    .map((key, i) => `bitRotateLeft(${key}, ${i})`)
    .reduce((all, one) => `bitXor(${all}, ${one})`);
}

/** Limits a read to parts of the table, and to steps of event time by their first ticks. */
export interface Scope {
  readonly parts: readonly string[];
  /** Absent = all. */
  readonly times?: { readonly step: CountStep; readonly ticks: readonly number[] } | undefined;
}

/**
 * Settings to be appended: reading a column at a time costs more than it saves where each range of
 * granules is short.
 */
export function scopeSettings(scope: Scope | undefined): string {
  const step = scope?.times?.step ?? Infinity;
  return step > 60_000 ? '' : ',\n  optimize_move_to_prewhere = 0';
}

/** Conditions to be joined by AND; none without a scope. */
export function scopeConditions(scope: Scope | undefined, params: Parameters): string[] {
  if (scope === undefined) return [];
  const { parts, times } = scope;
  const within = `_part ${params.anyOf(parts)}`;
  if (times === undefined) return [within];
  const { step, ticks } = times;
  return [within, `${stepSql(step)} IN ${params.integers(ticks.map((tick) => tick / step))}`];
}
