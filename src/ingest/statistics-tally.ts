/** Buffered statistics of receivers: counts per minute, and samples. Bounded; drops the oldest. */
import {
  maxReceiverSamples,
  minuteMs,
  type MinuteCounts,
  type MinuteSpan,
  type ReasonCount,
  type ReceiverHistory,
  type ReceiverSample,
  type ReasonKind,
  type StatisticsAddition,
} from '../model/receiver-statistics.ts';

export interface TallyLimits {
  /** For all receivers together. A receiver without minutes is dropped. */
  readonly maxMinutes: number;
  readonly maxSamples: number;
}

/** Dropped to stay within the limits. */
export interface Dropped {
  readonly minutes: number;
  readonly samples: number;
}

interface Minute extends Writable<MinuteCounts> {
  readonly receiverId: string;
  readonly reasons: Record<ReasonKind, Map<string, number>>;
}

interface Receiver {
  latest: Minute;
  lastSeenMs: number;
  /** -1 = never. */
  lastAcceptedMs: number;
  readonly samples: KeptSample[];
}

interface KeptSample {
  readonly receiverId: string;
  readonly sample: ReceiverSample;
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

export class StatisticsTally {
  readonly #limits: TallyLimits;
  readonly #receivers = new Map<string, Receiver>();
  /** In order of start; samples likewise. */
  readonly #minutes = new Set<Minute>();
  readonly #samples = new Set<KeptSample>();
  #dropped = { minutes: 0, samples: 0 };

  constructor(limits: TallyLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#receivers.size === 0;
  }

  /** Counts a replayed request. */
  repeat(receiverId: string, nowMs: number): void {
    this.#open(receiverId, nowMs).latest.requests += 1;
  }

  take(
    receiverId: string,
    taken: {
      readonly events: number;
      readonly bytes: number;
      readonly rejected: number;
      readonly rejectedByReason: ReadonlyMap<string, number>;
      readonly warnings: ReadonlyMap<string, number>;
    },
    nowMs: number,
  ): void {
    const receiver = this.#open(receiverId, nowMs);
    receiver.lastAcceptedMs = nowMs;
    const { latest } = receiver;
    latest.requests += 1;
    latest.accepted += taken.events;
    latest.bytes += taken.bytes;
    for (const [reason, count] of taken.warnings) add(latest.reasons.warning, reason, count);
    if (taken.rejected === 0) return;
    latest.rejected += taken.rejected;
    for (const [reason, count] of taken.rejectedByReason) add(latest.reasons.record, reason, count);
  }

  refuse(receiverId: string, reason: string, nowMs: number): void {
    const { latest } = this.#open(receiverId, nowMs);
    latest.requests += 1;
    latest.refused += 1;
    add(latest.reasons.request, reason, 1);
  }

  /** Adds a sample of a receiver with counts. */
  keep(receiverId: string, sample: ReceiverSample): void {
    const receiver = this.#receivers.get(receiverId);
    if (receiver === undefined) return;
    const kept = { receiverId, sample };
    receiver.samples.push(kept);
    this.#samples.add(kept);
    // Not counted as dropped: the directory would not keep it either.
    if (receiver.samples.length > maxReceiverSamples) {
      this.#samples.delete(receiver.samples.shift()!);
    }
    if (this.#samples.size <= this.#limits.maxSamples) return;
    const [oldest] = this.#samples;
    this.#samples.delete(oldest!);
    this.#receivers.get(oldest!.receiverId)?.samples.shift();
    this.#dropped.samples += 1;
  }

  /** Appends a later tally, which must not be used afterwards. */
  append(later: StatisticsTally): void {
    for (const minute of later.#minutes) this.#addMinute(minute);
    for (const [receiverId, { lastSeenMs, lastAcceptedMs }] of later.#receivers) {
      const receiver = this.#receivers.get(receiverId);
      if (receiver === undefined) continue;
      receiver.lastSeenMs = Math.max(receiver.lastSeenMs, lastSeenMs);
      receiver.lastAcceptedMs = Math.max(receiver.lastAcceptedMs, lastAcceptedMs);
    }
    for (const { receiverId, sample } of later.#samples) this.keep(receiverId, sample);
    const dropped = later.drainDropped();
    this.#dropped.minutes += dropped.minutes;
    this.#dropped.samples += dropped.samples;
  }

  /** Returns and resets the dropped counts. */
  drainDropped(): Dropped {
    const dropped = this.#dropped;
    this.#dropped = { minutes: 0, samples: 0 };
    return dropped;
  }

  toAddition(): StatisticsAddition {
    const minutes = [...this.#minutes];
    return {
      minutes: minutes.map((minute) => ({ receiverId: minute.receiverId, ...toCounts(minute) })),
      reasons: minutes.flatMap((minute) =>
        toReasons(minute).map((reason) => ({
          receiverId: minute.receiverId,
          minute: minute.minute,
          ...reason,
        })),
      ),
      samples: Array.from(this.#samples, ({ receiverId, sample }) => ({ receiverId, ...sample })),
      activities: Array.from(this.#receivers, ([receiverId, receiver]) => ({
        receiverId,
        ...toActivity(receiver),
      })),
    };
  }

  /** The history of a receiver from only this tally. */
  history(receiverId: string, { fromMinute, untilMinute }: MinuteSpan): ReceiverHistory {
    const receiver = this.#receivers.get(receiverId);
    if (receiver === undefined) return nothing;
    const minutes = [...this.#minutes].filter(
      (minute) =>
        minute.receiverId === receiverId &&
        minute.minute >= fromMinute &&
        minute.minute < untilMinute,
    );
    return {
      minutes: minutes.map(toCounts),
      reasons: minutes.flatMap(toReasons),
      samples: receiver.samples.map(({ sample }) => sample).reverse(),
      ...toActivity(receiver),
    };
  }

  #open(receiverId: string, nowMs: number): Receiver {
    const minute = Math.floor(nowMs / minuteMs);
    const receiver = this.#receivers.get(receiverId);
    if (receiver !== undefined && receiver.latest.minute === minute) {
      receiver.lastSeenMs = nowMs;
      return receiver;
    }
    return this.#begin(blankMinute(receiverId, minute), nowMs);
  }

  #begin(minute: Minute, seenMs: number): Receiver {
    const { receiverId } = minute;
    let receiver = this.#receivers.get(receiverId);
    if (receiver === undefined) {
      receiver = { latest: minute, lastSeenMs: seenMs, lastAcceptedMs: -1, samples: [] };
      this.#receivers.set(receiverId, receiver);
    } else {
      receiver.latest = minute;
      receiver.lastSeenMs = Math.max(receiver.lastSeenMs, seenMs);
    }
    this.#minutes.add(minute);
    if (this.#minutes.size > this.#limits.maxMinutes) this.#dropOldest();
    return receiver;
  }

  #addMinute(minute: Minute): void {
    const latest = this.#receivers.get(minute.receiverId)?.latest;
    if (latest?.minute !== minute.minute) {
      this.#begin(minute, 0);
      return;
    }
    for (const field of ['requests', 'refused', 'accepted', 'rejected', 'bytes'] as const) {
      latest[field] += minute[field];
    }
    for (const { kind, reason, count } of toReasons(minute)) {
      add(latest.reasons[kind], reason, count);
    }
  }

  #dropOldest(): void {
    const [oldest] = this.#minutes;
    if (oldest === undefined) return;
    this.#minutes.delete(oldest);
    this.#dropped.minutes += 1;
    const receiver = this.#receivers.get(oldest.receiverId);
    if (receiver?.latest !== oldest) return;
    for (const kept of receiver.samples) this.#samples.delete(kept);
    this.#dropped.samples += receiver.samples.length;
    this.#receivers.delete(oldest.receiverId);
  }
}

const nothing: ReceiverHistory = {
  minutes: [],
  reasons: [],
  samples: [],
  lastSeenAt: null,
  lastAcceptedAt: null,
};

function blankMinute(receiverId: string, minute: number): Minute {
  return {
    receiverId,
    minute,
    requests: 0,
    refused: 0,
    accepted: 0,
    rejected: 0,
    bytes: 0,
    reasons: { request: new Map(), record: new Map(), warning: new Map() },
  };
}

function toCounts({ receiverId: _, reasons: __, ...counts }: Minute): MinuteCounts {
  return counts;
}

function toReasons({ reasons }: Minute): ReasonCount[] {
  return (['request', 'record', 'warning'] as const).flatMap((kind) =>
    Array.from(reasons[kind], ([reason, count]) => ({ kind, reason, count })),
  );
}

function toActivity({ lastSeenMs, lastAcceptedMs }: Receiver) {
  return {
    lastSeenAt: new Date(lastSeenMs).toISOString(),
    lastAcceptedAt: lastAcceptedMs < 0 ? null : new Date(lastAcceptedMs).toISOString(),
  };
}

function add(counts: Map<string, number>, reason: string, count: number): void {
  counts.set(reason, (counts.get(reason) ?? 0) + count);
}
