/** Reads a sample of messages: its size is bounded, however many logs match. */
import type { HistogramPlan, HistogramResult } from '../../model/plan.ts';
import type { MessagesResult, SampledMessages } from '../../model/sample-plan.ts';
import type { QueryContext } from '../connection.ts';
import { type ReaderParts, startReadTime } from '../read-time.ts';
import { compileMessageGroups, type MessageGroupRow } from './message-groups.ts';
import { tableName } from '../sql/tables.ts';
import { readSamples, totalOf } from './sample.ts';

/** Logs of a sample. */
const maxRows = 50_000;
/** Masked texts; the rarer ones are not returned. */
const maxGroups = 5_000;

interface SampledMessageReader {
  read(plan: HistogramPlan, context: QueryContext): Promise<MessagesResult>;
}

/** @param histogram counts the logs of a plan */
export function createMessageReader(
  { connection, database, limits }: ReaderParts,
  histogram: (plan: HistogramPlan, context: QueryContext) => Promise<HistogramResult>,
): SampledMessageReader {
  const table = tableName(database, 'logs');

  return {
    async read(plan, context) {
      const time = startReadTime(limits);
      const sampledOf = (rows: readonly MessageGroupRow[]) => [Number(rows[0]?.at(-1) ?? 0)];
      const { samples, result } = await readSamples([plan], {
        maxRows,
        countLogs: (one) => histogram(one, context),
        read([sample]) {
          const step = { limits: time.left(), maxGroups };
          const statement = compileMessageGroups(table, sample!, step);
          return connection.read<MessageGroupRow>(statement, context);
        },
        sampledOf,
      });
      const sampled = sampledOf(result)[0]!;
      return { groups: result.map(toMessages), sampled, total: totalOf(samples[0]!, sampled) };
    },
  };
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
