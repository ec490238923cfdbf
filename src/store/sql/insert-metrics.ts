/**
 * The INSERT of one section of batches of layout `metrics/1`. A batch is one outer row: the values
 * that its rows have in common, and the section in the bytes that the queue keeps, which the store
 * unpacks. Pure.
 */
import { type MetricSection, metricSectionFields } from '../../codec/metric-rows.ts';
import type { StampedBatch } from '../../model/batch.ts';
import { passCondition } from './fences.ts';
import { insertSettings, type InsertTarget } from './insert-settings.ts';
import { type InsertStatement, Parameters } from './statement.ts';
import { tableName } from './tables.ts';

/** Table of a section, and its columns over an outer row joined with `joined`. */
interface SectionInsert {
  readonly table: string;
  /** Structure of the section in an outer RowBinary row. */
  readonly structure: string;
  readonly joined: string;
  /** Columns and expressions beside `outerColumns`. */
  readonly columns: readonly (readonly [string, string])[];
}

/** Common to all tables; outer-rows.ts encodes them. */
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

/** Integers that a double holds exactly; not -0, which would lose its sign. */
const isWhole =
  '(reinterpretAsFloat64(bits) AS v) = trunc(v) AND abs(v) <= 9007199254740992' +
  ' AND bits != 9223372036854775808';

/**
 * Decimals that the division by the power of ten gives back exactly. Fewer than one in a thousand
 * other values pass for one: their scaled values are larger or fractions.
 */
const isDecimal = (digits: 3 | 6) =>
  `(round(v * 1e${digits}) AS scaled${digits}) / 1e${digits} = v` +
  ` AND abs(scaled${digits}) BETWEEN 1 AND 4398046511104`;

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
    // As bits, so that the payload of a NaN survives.
    structure: 'ids Array(UInt128),\n  times Array(Int64),\n  values Array(UInt64)',
    joined: 'ids AS id, times AS time, values AS bits',
    columns: [
      receivedAtSecond,
      ['SeriesId', 'id'],
      ['UnixMilli', 'time'],
      [
        'Integer',
        `toInt64(multiIf((${isWhole}) AS whole, v, (${isDecimal(3)}) AS decimal3, scaled3,
    (${isDecimal(6)}) AS decimal6, scaled6, 0.))`,
      ],
      ['Bits', 'multiIf(whole, 0, decimal3, 3, decimal6, 6, bits)'],
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
 * Does not deduplicate, which would double the cost: merges and reads do.
 *
 * @param batches at least one, each with this section.
 * @returns the INSERT; its body is `encodeOuterRows` of the same batches.
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
