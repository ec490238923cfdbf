/** Groups a sample of messages by what is left of them without numbers and the like. Pure. */
import type { LogSample } from '../../model/sample-plan.ts';
import { maxMessageLength } from '../../patterns/describe.ts';
import { mask, variableRun } from '../../patterns/tokens.ts';
import { rowValueSql } from '../sql/field-sql.ts';
import { bucketSql } from '../sql/histogram.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from '../sql/statement.ts';
import { sampleSql } from './sample.ts';

const textSql = `if(length(Body) > ${maxMessageLength}, \
substringUTF8(Body, 1, ${maxMessageLength}), Body)`;

function maskSql(params: Parameters): string {
  return `replaceRegexpAll(${textSql}, ${params.add('String', variableRun)}, '${mask}')`;
}

/** Of the logs with one masked text. */
const textsPerGroup = 50;

export type MessageGroupRow = readonly [
  masked: string,
  count: string,
  texts: readonly string[],
  severities: readonly string[],
  severityCounts: readonly string[],
  buckets: readonly number[],
  bucketCounts: readonly string[],
  firstNanos: string,
  lastNanos: string,
  lastTie: string,
  lastText: string,
  sampled: string,
];

/** The most frequent masked texts; `sampled` counts the logs of the others too. */
export function compileMessageGroups(
  table: string,
  sample: LogSample,
  { limits, maxGroups }: { readonly limits: ReadLimits; readonly maxGroups: number },
): Statement {
  return statement((params) => {
    const columns = `${textSql} AS text, ${maskSql(params)} AS masked,
  Timestamp AS time, Tie AS tie, ${rowValueSql('severity', params)} AS severity,
  toUInt16(${bucketSql(sample.plan, params)}) AS bucket`;
    return `SELECT masked, toString(count() AS n), groupArraySample(${textsPerGroup}, 1)(text),
  (sumMap([severity], [toUInt64(1)]) AS severities).1, arrayMap(x -> toString(x), severities.2),
  (sumMap([bucket], [toUInt64(1)]) AS buckets).1, arrayMap(x -> toString(x), buckets.2),
  toString(toUnixTimestamp64Nano(min(time))), toString(toUnixTimestamp64Nano(max(time) AS last)),
  toString((argMax((tie, text), (time, tie)) AS newest).1), newest.2,
  toString(sum(n) OVER ())
FROM
(
  ${sampleSql(table, sample, columns, params).replaceAll('\n', '\n  ')}
)
GROUP BY masked
ORDER BY n DESC, masked
LIMIT ${maxGroups}
${limitsSql(limits)}`;
  });
}
