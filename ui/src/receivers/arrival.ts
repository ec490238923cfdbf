/** Whether events reach a receiver, from its statistics. Pure. */
import type { Statistics } from '../api/models.ts';

export type RefusalSample = Statistics['samples'][number];

export interface Arrival {
  /** ISO time of the last accepted request; null = none. */
  readonly acceptedAt: string | null;
  /** The last refusal without a later success; undefined = none. */
  readonly refusal: RefusalSample | undefined;
}

/** A partially accepted request counts as both. */
export function toArrival({
  lastAcceptedAt,
  samples,
}: Pick<Statistics, 'lastAcceptedAt' | 'samples'>): Arrival {
  const newest = samples[0];
  if (newest === undefined || lastAcceptedAt === null) {
    return { acceptedAt: lastAcceptedAt, refusal: newest };
  }
  const [refusedMs, acceptedMs] = [Date.parse(newest.at), Date.parse(lastAcceptedAt)];
  const isLater = newest.kind === 'record' ? refusedMs >= acceptedMs : refusedMs > acceptedMs;
  return { acceptedAt: lastAcceptedAt, refusal: isLater ? newest : undefined };
}
