/** Whether what was sent to a receiver gets through, from its statistics. Pure. */
import type { Statistics } from '../api/models.ts';

export type RefusalSample = Statistics['samples'][number];

export interface Arrival {
  /** ISO time of the last request that was taken; null = none was. */
  readonly acceptedAt: string | null;
  /** The last refusal, where nothing got through after it; undefined = there is none. */
  readonly refusal: RefusalSample | undefined;
}

/** Of a request that was taken in part both are told: its records are refused as it is taken. */
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
