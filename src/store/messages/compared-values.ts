/** Counts the values of fields and labels in a sample of each of two sets of logs. */
import {
  equalityFields,
  fieldEntries,
  type GroupField,
  labelPrefix,
  logFields,
} from '../../model/log-fields.ts';
import type {
  ComparedValue,
  ComparisonPlan,
  ComparisonResult,
  LogSample,
  SideCounts,
} from '../../model/sample-plan.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import { rowValueSql } from '../sql/field-sql.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from '../sql/statement.ts';
import { tableName } from '../sql/tables.ts';
import { readSamples, type SampleCaller, sampleSql, totalOf } from './sample.ts';

/** Logs of each sample. */
const maxRows = 20_000;
/** In both samples together; chance explains differences of rarer values. */
const minCount = 5;
const maxValuesPerKey = 20;
const maxValues = 5_000;

const fields: readonly GroupField[] = [
  ...equalityFields.filter((field) => logFields[field].filter.match !== 'hex'),
  'streamId',
  'eventName',
  'scope',
  'receiverId',
];

/** Labels that fill a field are compared as that field. */
const fieldKeys = fieldEntries.flatMap(([, { attribute }]) => attribute ?? []);

/** Instead of the index of a field. */
const label = 255;
const everyLog = 254;

/** Sampled rows are those with the field `everyLog`. */
type ValueRow = readonly [
  field: number,
  key: string,
  value: string,
  selection: string,
  baseline: string,
  tested: string,
];

interface Samples {
  readonly selection: LogSample;
  readonly baseline: LogSample;
}

export async function readComparison(
  { connection, database, limits }: ReaderParts,
  plan: ComparisonPlan,
  { context, countLogs }: SampleCaller,
): Promise<ComparisonResult> {
  const time = startReadTime(limits);
  const table = tableName(database, 'logs');
  const { samples, result: rows } = await readSamples([plan.selection, plan.baseline], {
    maxRows,
    countLogs: (one) => countLogs(one, context),
    read([selection, baseline]) {
      const both = { selection: selection!, baseline: baseline! };
      const compiled = compileComparedValues(table, both, time.left());
      return connection.read<ValueRow>(compiled, context);
    },
    sampledOf,
  });
  const sampled = sampledOf(rows);
  return {
    values: rows.filter((row) => !isEveryLog(row)).map(toValue),
    tested: Number(rows.find(isEveryLog)?.[5] ?? 0),
    sampled,
    total: [totalOf(samples[0]!, sampled[0]), totalOf(samples[1]!, sampled[1])],
  };
}

const isEveryLog = ([field]: ValueRow) => field === everyLog;

function sampledOf(rows: readonly ValueRow[]): SideCounts {
  const all = rows.find(isEveryLog);
  return all === undefined ? [0, 0] : countsOf(all);
}

/** Without keys that have nearly as many values as logs, such as ids of requests. */
function compileComparedValues(
  table: string,
  { selection, baseline }: Samples,
  limits: ReadLimits,
): Statement {
  const labels = `arrayMap((k, v) -> (toUInt8(${label}), toString(k), v), \
mapKeys(mapUpdate(ResourceAttributes, LogAttributes) AS labels), mapValues(labels))`;
  const pairsSql = (params: Parameters) => {
    const values = fields.map((field, i) => `(toUInt8(${i}), '', ${rowValueSql(field, params)})`);
    return `arrayConcat([(toUInt8(${everyLog}), '', '-'), ${values.join(', ')}], ${labels})`;
  };
  const sideSql = (side: 0 | 1, sample: LogSample, params: Parameters) => {
    const columns = `toUInt8(${side}) AS side, ${pairsSql(params)} AS pairs`;
    return sampleSql(table, sample, columns, params).replaceAll('\n', '\n      ');
  };
  const sizeOf = (count: string) => `sumIf(${count}, field = ${everyLog}) OVER ()`;
  const difference = `abs(a * ${sizeOf('b')} - b * ${sizeOf('a')})`;
  return statement(
    (params) => `SELECT field, key, value, toString(a), toString(b),
  toString(countIf(field != ${everyLog}) OVER ())
FROM
(
  SELECT pair.1 AS field, pair.2 AS key, pair.3 AS value,
    toInt64(countIf(side = 0)) AS a, toInt64(countIf(side = 1)) AS b,
    count() OVER same AS distinct, sum(a + b) OVER same AS present
  FROM
  (
    SELECT side, arrayJoin(pairs) AS pair
    FROM
    (
      SELECT * FROM (${sideSql(0, selection, params)})
      UNION ALL
      SELECT * FROM (${sideSql(1, baseline, params)})
    )
  )
  WHERE value != '' AND key NOT IN (${fieldKeys.map((key) => `'${key}'`).join(', ')})
  GROUP BY field, key, value
  WINDOW same AS (PARTITION BY field, key)
)
WHERE field = ${everyLog} OR a + b >= ${minCount} AND distinct * 2 <= present
ORDER BY field = ${everyLog} DESC, ${difference} DESC, field, key, value
LIMIT ${maxValuesPerKey} BY field, key
LIMIT ${maxValues}
${limitsSql(limits)}`,
  );
}

function toValue(row: ValueRow): ComparedValue {
  const [field, key, value] = row;
  const name = field === label ? (`${labelPrefix}${key}` as const) : fields[field]!;
  return { field: name, value, counts: countsOf(row) };
}

function countsOf([, , , selection, baseline]: ValueRow): SideCounts {
  return [Number(selection), Number(baseline)];
}
