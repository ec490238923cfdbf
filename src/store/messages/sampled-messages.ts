/** Reads a sample of messages: its size is bounded, however many logs match. */
import type { HistogramPlan } from '../../model/plan.ts';
import type { LogSample, MessagesResult, SampledMessages } from '../../model/sample-plan.ts';
import { maxMessageLength } from '../../patterns/describe.ts';
import { mask, variableRun } from '../../patterns/tokens.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import { rowValueSql } from '../sql/field-sql.ts';
import { bucketSql } from '../sql/histogram.ts';
import {
  limitsSql,
  type Parameters,
  type ReadLimits,
  type Statement,
  statement,
} from '../sql/statement.ts';
import { tableName } from '../sql/tables.ts';
import { readSamples, type SampleCaller, sampleSql, totalOf } from './sample.ts';

/** Logs of a sample. */
const maxRows = 50_000;
/** Masked texts; the rarer ones are not returned. */
const maxGroups = 5_000;

export async function readMessages(
  { connection, database, limits }: ReaderParts,
  plan: HistogramPlan,
  { context, countLogs }: SampleCaller,
): Promise<MessagesResult> {
  const time = startReadTime(limits);
  const table = tableName(database, 'logs');
  const sampledOf = (rows: readonly MessageGroupRow[]) => [Number(rows[0]?.at(-1) ?? 0)];
  const { samples, result } = await readSamples([plan], {
    maxRows,
    countLogs: (one) => countLogs(one, context),
    read([sample]) {
      const grouped = compileMessageGroups(table, sample!, time.left());
      return connection.read<MessageGroupRow>(grouped, context);
    },
    sampledOf,
  });
  const sampled = sampledOf(result)[0]!;
  return { groups: result.map(toMessages), sampled, total: totalOf(samples[0]!, sampled) };
}

function toMessages(row: MessageGroupRow): SampledMessages {
  const [masked, count, texts, severities, severityCounts, buckets, bucketCounts] = row;
  const [, , , , , , , firstNanos, lastNanos, lastTie, lastText] = row;
  return {
    masked,
    count: Number(count),
    texts,
    severities: severities.map((severity, i) => [severity, Number(severityCounts[i])]),
    buckets: buckets.map((bucket, i) => [bucket, Number(bucketCounts[i])]),
    firstNanos: BigInt(firstNanos),
    last: { timeNanos: BigInt(lastNanos), tie: BigInt(lastTie) },
    lastText,
  };
}

const textSql = `if(length(Body) > ${maxMessageLength}, \
substringUTF8(Body, 1, ${maxMessageLength}), Body)`;

function maskSql(params: Parameters): string {
  return `replaceRegexpAll(${textSql}, ${params.add('String', variableRun)}, '${mask}')`;
}

/** Of the logs with one masked text. */
const textsPerGroup = 50;

type MessageGroupRow = readonly [
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
function compileMessageGroups(table: string, sample: LogSample, limits: ReadLimits): Statement {
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
