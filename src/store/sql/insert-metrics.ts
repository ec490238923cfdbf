/**
 * The statements that store batches of layout `metrics/1`, one for each section that any of them
 * has. Each batch is one outer row: what is the same for all its rows, then the section exactly as
 * the queue keeps it; the store takes it apart. Pure.
 */
import type { StampedBatch } from '../../model/batch.ts';
import { type MetricSection, metricSectionFields } from '../../codec/metric-rows.ts';
import { tableName } from './columns.ts';
import { passCondition } from './insert-pass.ts';
import { insertSettings, type InsertTarget } from './insert-settings.ts';
import { type InsertStatement, Parameters } from './statement.ts';

/** How a section becomes rows of its table, over an outer row joined with `joined`. */
interface SectionInsert {
  readonly table: string;
  /** The section in an outer RowBinary row. */
  readonly structure: string;
  readonly joined: string;
  /** Columns and their expressions, beside those of every table. */
  readonly columns: readonly (readonly [string, string])[];
}

/** Of every table; outer-rows.ts writes what they are made of. */
const outerStructure = `batch UInt128,
  receivedAt Int64,
  accountId LowCardinality(String),
  streamId LowCardinality(String),
  receiverId LowCardinality(String)`;

const outerColumns = [
  ['AccountId', 'accountId'],
  ['StreamId', 'streamId'],
] as const;
const receivedAt = ['ReceivedAt', "fromUnixTimestamp64Nano(receivedAt, 'UTC')"] as const;
const receivedAtSecond = [
  'ReceivedAt',
  "toDateTime(intDiv(receivedAt, 1000000000), 'UTC')",
] as const;

/** Those that a double holds exactly; not -0, which would lose its sign. */
const isWhole =
  '(reinterpretAsFloat64(bits) AS v) = trunc(v) AND abs(v) <= 9007199254740992' +
  ' AND bits != 9223372036854775808';

const inserts: Readonly<Record<MetricSection, SectionInsert>> = {
  series: {
    ...tuplesInsert('series', 'series'),
    columns: [
      receivedAt,
      ['MetricName', "r.labels['__name__']"],
      ['SeriesId', 'r.id'],
      ['Day', 'toDate(r.day)'],
      ['Labels', 'r.labels'],
    ],
  },
  samples: {
    table: 'samples',
    // Values as the bits they are: no NaN becomes another on its way.
    structure: 'ids Array(UInt128),\n  times Array(Int64),\n  values Array(UInt64)',
    joined: 'ids AS id, times AS time, values AS bits',
    columns: [
      receivedAtSecond,
      ['SeriesId', 'id'],
      ['UnixMilli', 'time'],
      ['Integer', `toInt64(if((${isWhole}) AS whole, v, 0.))`],
      ['Bits', 'if(whole, 0, bits)'],
    ],
  },
  histograms: {
    ...tuplesInsert('histograms', 'histograms'),
    columns: [
      receivedAt,
      ['SeriesId', 'r.id'],
      ['UnixMilli', 'r.time'],
      ['Histogram', 'r.histogram'],
    ],
  },
  exemplars: {
    ...tuplesInsert('exemplars', 'exemplars'),
    columns: [
      receivedAt,
      ['SeriesId', 'r.id'],
      ['UnixMilli', 'r.time'],
      ['Digest', 'sipHash64(reinterpretAsUInt64(r.value), r.labels)'],
      ['Value', 'r.value'],
      ['Labels', 'r.labels'],
    ],
  },
  metadata: {
    ...tuplesInsert('metadata', 'metric_metadata'),
    columns: [
      receivedAt,
      ['MetricName', 'r.name'],
      ['Type', 'r.type'],
      ['Unit', 'r.unit'],
      ['Help', 'r.help'],
    ],
  },
};

/**
 * Equal rows of one insert are left to merges and reads like those of several: looking for them
 * here would cost as much again.
 *
 * @param batches at least one, each with this section.
 * @returns the INSERT, to be followed by the outer rows of the same batches.
 */
export function compileInsertSection(
  target: InsertTarget,
  section: MetricSection,
  batches: readonly StampedBatch[],
): InsertStatement {
  const { placement, pass } = target;
  const params = new Parameters();
  const where = pass === undefined ? '' : `\nWHERE ${passCondition(placement, pass, params)}`;
  const { table, structure, joined, columns } = inserts[section];
  const all = [...outerColumns, ...columns];
  const names = all.map(([name]) => name).join(', ');
  const expressions = all.map(([, expression]) => expression).join(',\n  ');
  const sql = `INSERT INTO ${tableName(placement.database, table)} (${names})
SELECT
  ${expressions}
FROM input('${outerStructure},
  ${structure}')
ARRAY JOIN ${joined}${where}
${insertSettings(batches, target)},
  optimize_on_insert = 0
FORMAT RowBinary`;
  return { sql, params: params.values, queryId: pass?.queryId };
}

function tuplesInsert(section: Exclude<MetricSection, 'samples'>, table: string) {
  const fields = metricSectionFields[section].map(([name, type]) => `${name} ${type}`).join(', ');
  return { table, structure: `rows Array(Tuple(${fields}))`, joined: 'rows AS r' };
}
