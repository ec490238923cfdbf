/** Counts the data that arrived after the rules of a group had been evaluated over its time. */
import { readableStreams, readContext, type ReadContextSource } from '../model/readable-streams.ts';
import type { LateRows, StoredRuleGroup } from '../model/rules.ts';
import type { Store } from '../store/port.ts';

/** @returns that of the last evaluation; undefined = there was none. @throws AppError */
export type CountLate = (stored: StoredRuleGroup) => Promise<LateRows | undefined>;

/** How far back PromQL looks, without longer ranges. */
const lookbackMs = 300_000;

export function createCountLate(
  parts: ReadContextSource & { readonly store: Pick<Store, 'lateRows'> },
): CountLate {
  return async ({ accountId, streamId, group, state }) => {
    const [first] = group.rules;
    if (first === undefined || state?.readMs === undefined) return undefined;
    const [stream] = readableStreams(await readContext(parts, accountId), [streamId]);
    const reaches = group.rules.map(({ query }) =>
      query.type === 'logs' ? query.windowMs : lookbackMs,
    );
    const untilMs = state.evaluatedAtMs - group.queryOffsetMs;
    return parts.store.lateRows({
      accountId,
      stream: stream!,
      table: first.query.type === 'logs' ? 'logs' : 'samples',
      fromMs: untilMs - Math.max(...reaches),
      untilMs,
      // Data is read up to a second after its receipt, and samples have it in whole seconds.
      receivedFromMs: Math.floor(state.readMs / 1000) * 1000,
    });
  };
}
