/**
 * Whose rows a read may see: the account first and outermost, then its streams with what is still
 * kept of each. The same for logs and metrics. Pure.
 */
import type { ReadableStream } from '../../model/plan.ts';
import type { Parameters } from './statement.ts';
import { receiptPrecision, type StoredTable } from './stored-tables.ts';

export interface Owner {
  readonly accountId: string;
  readonly streams: readonly ReadableStream[];
}

/** @returns conditions on rows of a table, to be joined by AND. */
export function ownerConditions(table: StoredTable, owner: Owner, params: Parameters): string[] {
  return [
    `AccountId = ${params.add('String', owner.accountId)}`,
    ...streamConditions(table, owner.streams, params),
  ];
}

/**
 * Streams with the same limit of receipt share a condition: most streams of an account keep equally
 * long. A limit of 0 hides nothing and is not asked for.
 */
function streamConditions(
  table: StoredTable,
  streams: readonly ReadableStream[],
  params: Parameters,
): string[] {
  const precision = receiptPrecision(table);
  if (streams.length === 0) return ['0'];
  const idsByReceipt = Map.groupBy(streams, (stream) => stream.receivedFromNanos);
  const groups = [...idsByReceipt].map(([from, group]) => {
    const ids = params.anyOf(
      'String',
      group.map((stream) => stream.streamId),
    );
    const kept = from > 0n ? [`ReceivedAt >= ${params.receipt(from, precision)}`] : [];
    return [`StreamId ${ids}`, ...kept];
  });
  if (groups.length === 1) return [...groups[0]!];
  const all = params.anyOf(
    'String',
    streams.map((stream) => stream.streamId),
  );
  const any = groups.map((conditions) => `(${conditions.join(' AND ')})`).join(' OR ');
  return [`StreamId ${all}`, `(${any})`];
}
