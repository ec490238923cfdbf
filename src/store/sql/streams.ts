/**
 * The rows that a read of logs or metrics may see: the account first and outermost, then its
 * streams within their retention. Pure.
 */
import type { ReadableStream } from '../../model/plan.ts';
import type { Parameters } from './statement.ts';
import { keptLongerMs, receiptPrecision, type StoredTable } from './tables.ts';

interface Owner {
  readonly accountId: string;
  readonly streams: readonly ReadableStream[];
}

/** @returns conditions to be joined by AND. */
export function ownerConditions(table: StoredTable, owner: Owner, params: Parameters): string[] {
  return [
    `AccountId = ${params.add('String', owner.accountId)}`,
    ...streamConditions(table, owner.streams, params),
  ];
}

/**
 * Streams with the same limit of receipt share a condition, since most streams of an account have
 * one retention. A limit of 0 hides nothing and needs no condition.
 */
function streamConditions(
  table: StoredTable,
  streams: readonly ReadableStream[],
  params: Parameters,
): string[] {
  const precision = receiptPrecision(table);
  if (streams.length === 0) return ['0'];
  const streamsByReceipt = Map.groupBy(streams, (stream) => stream.receivedFromNanos);
  const idCondition = (group: readonly ReadableStream[]) => {
    const ids = group.map(({ streamId }) => streamId);
    return `StreamId ${params.anyOf(ids)}`;
  };
  const groups = [...streamsByReceipt].map(([from, group]) => {
    const kept = () => `ReceivedAt >= ${params.receipt(from, precision)}`;
    return from > 0n ? [idCondition(group), kept()] : [idCondition(group)];
  });
  if (groups.length === 1) return groups[0]!;
  const any = groups.map((conditions) => `(${conditions.join(' AND ')})`).join(' OR ');
  return [idCondition(streams), `(${any})`];
}

/** The time of receipt, Unix ns, from which a table keeps rows: no deletion leaves labels. */
export function keptFromNanos(
  table: StoredTable,
  { receivedFromNanos, deletedUntilNanos }: ReadableStream,
): bigint {
  const from = receivedFromNanos - BigInt(keptLongerMs(table)) * 1_000_000n;
  const afterDeletion = deletedUntilNanos === undefined ? 0n : deletedUntilNanos + 1n;
  return from > afterDeletion ? from : afterDeletion;
}
