/**
 * Whose rows a read may see: the account first and outermost, then its streams with what is still
 * kept of each. The same for logs and metrics. Pure.
 */
import type { ReadableStream } from '../../model/plan.ts';
import type { Parameters } from './statement.ts';

/** @returns conditions to be joined by AND. */
export function ownerConditions(
  owner: { readonly accountId: string; readonly streams: readonly ReadableStream[] },
  params: Parameters,
): string[] {
  return [
    `AccountId = ${params.add('String', owner.accountId)}`,
    ...streamConditions(owner.streams, params),
  ];
}

/**
 * Streams with the same limit of receipt share a condition: most streams of an account keep equally
 * long. A limit of 0 hides nothing and is not asked for.
 */
function streamConditions(streams: readonly ReadableStream[], params: Parameters): string[] {
  if (streams.length === 0) return ['0'];
  const idsByReceipt = Map.groupBy(streams, (stream) => stream.receivedFromNanos);
  const groups = [...idsByReceipt].map(([from, group]) => {
    const ids = params.anyOf(
      'String',
      group.map((stream) => stream.streamId),
    );
    return [`StreamId ${ids}`, ...(from > 0n ? [`ReceivedAt >= ${params.time(from)}`] : [])];
  });
  if (groups.length === 1) return [...groups[0]!];
  const all = params.anyOf(
    'String',
    streams.map((stream) => stream.streamId),
  );
  const any = groups.map((conditions) => `(${conditions.join(' AND ')})`).join(' OR ');
  return [`StreamId ${all}`, `(${any})`];
}
