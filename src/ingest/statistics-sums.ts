/** Sums of statistics from several sources. Pure. */
import {
  maxReceiverSamples,
  type MinuteCounts,
  type ReceiverActivity,
  type ReceiverHistory,
  type StatisticsAddition,
} from '../model/receiver-statistics.ts';

/** Adds disjoint histories of one receiver. */
export function sumOfHistories(histories: readonly ReceiverHistory[]): ReceiverHistory {
  const minutes = histories.flatMap((history) => history.minutes);
  const reasons = histories.flatMap((history) => history.reasons);
  return {
    minutes: sumsBy(minutes, ({ minute }) => String(minute), plusMinute).sort(
      (a, b) => a.minute - b.minute,
    ),
    reasons: sumsBy(reasons, ({ kind, reason }) => `${kind} ${reason}`, plusCount),
    // Later sources hold newer samples.
    samples: histories
      .toReversed()
      .flatMap((history) => history.samples)
      .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
      .slice(0, maxReceiverSamples),
    ...histories.reduce(laterActivity, { lastSeenAt: null, lastAcceptedAt: null }),
  };
}

/** Merges rows of one receiver and minute: PostgreSQL rejects duplicates in one upsert. */
export function sumOfAdditions(additions: readonly StatisticsAddition[]): StatisticsAddition {
  return {
    minutes: sumsBy(
      additions.flatMap((addition) => addition.minutes),
      ({ receiverId, minute }) => `${receiverId} ${minute}`,
      (a, b) => ({ ...a, ...plusMinute(a, b) }),
    ),
    reasons: sumsBy(
      additions.flatMap((addition) => addition.reasons),
      ({ receiverId, minute, kind, reason }) => `${receiverId} ${minute} ${kind} ${reason}`,
      plusCount,
    ),
    samples: additions.flatMap((addition) => addition.samples),
    activities: sumsBy(
      additions.flatMap((addition) => addition.activities),
      ({ receiverId }) => receiverId,
      (a, b) => ({ ...a, ...laterActivity(a, b) }),
    ),
  };
}

/** One value per key, in the order of first occurrence. */
function sumsBy<Value>(
  values: readonly Value[],
  keyOf: (value: Value) => string,
  plus: (a: Value, b: Value) => Value,
): Value[] {
  const sums = new Map<string, Value>();
  for (const value of values) {
    const key = keyOf(value);
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? value : plus(sum, value));
  }
  return [...sums.values()];
}

function plusMinute(a: MinuteCounts, b: MinuteCounts): MinuteCounts {
  return {
    minute: a.minute,
    requests: a.requests + b.requests,
    refused: a.refused + b.refused,
    accepted: a.accepted + b.accepted,
    rejected: a.rejected + b.rejected,
    bytes: a.bytes + b.bytes,
  };
}

function plusCount<Value extends { readonly count: number }>(a: Value, b: Value): Value {
  return { ...a, count: a.count + b.count };
}

function laterActivity(a: ReceiverActivity, b: ReceiverActivity): ReceiverActivity {
  return {
    lastSeenAt: later(a.lastSeenAt, b.lastSeenAt),
    lastAcceptedAt: later(a.lastAcceptedAt, b.lastAcceptedAt),
  };
}

/** ISO times compare as text. */
function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}
