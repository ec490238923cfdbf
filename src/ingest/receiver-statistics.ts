/**
 * Counts accepted and refused requests per receiver and keeps samples of refusals. Counts are
 * buffered in bounded memory and flushed to the directory by a timer; requests never wait for it.
 */
import type { StatisticsStore } from '../directory/port.ts';
import { type Batch, countEvents } from '../model/batch.ts';
import { minuteMs, type MinuteSpan, type ReceiverHistory } from '../model/receiver-statistics.ts';
import type { StatisticsEvents } from '../telemetry/node-events.ts';
import { type Sender, toErrorCode, toRecordSamples, toRequestSample } from './receiver-sample.ts';
import { sumOfAdditions, sumOfHistories } from './statistics-sums.ts';
import { StatisticsTally, type TallyLimits } from './statistics-tally.ts';

export interface ReceiverStatisticsOptions {
  /** A crash loses at most this much. */
  readonly flushEveryMs: number;
  readonly pruneEveryMs: number;
  readonly retentionDays: number;
  /** Limits on buffered statistics while the directory is unreachable. */
  readonly pending: TallyLimits;
  /** Limits for unconfirmed receiver ids, which unauthenticated senders can invent. */
  readonly unknownReceivers: TallyLimits;
}

export const receiverStatisticsDefaults: ReceiverStatisticsOptions = {
  flushEveryMs: 5_000,
  pruneEveryMs: 600_000,
  retentionDays: 7,
  pending: { maxMinutes: 100_000, maxSamples: 20_000 },
  unknownReceivers: { maxMinutes: 200, maxSamples: 400 },
};

export interface IngestStatistics {
  /** The batch is durable. @param taken with the status of the answer and the inflated size */
  accepted(
    sender: Sender,
    taken: { readonly batch: Batch; readonly bodyBytes: number; readonly status: number },
  ): void;
  /** The request got the answer of an earlier one with the same idempotency key. */
  replayed(sender: Sender): void;
  /** @param fault AppError, or a bug */
  refused(sender: Sender, fault: unknown): void;
}

export interface ReceiverStatistics extends IngestStatistics {
  /**
   * All statistics of an existing receiver, buffered ones included.
   * @throws AppError `unavailable`
   */
  history(receiverId: string, span: MinuteSpan): Promise<ReceiverHistory>;
  /** Writes buffered statistics. */
  flush(): Promise<void>;
  /** Flushes and stops the timer; does not close the store. */
  close(): Promise<void>;
}

/** @param now Unix ms. */
export function openReceiverStatistics(
  store: StatisticsStore,
  options: ReceiverStatisticsOptions,
  events: StatisticsEvents,
  now: () => number = Date.now,
): ReceiverStatistics {
  return new Statistics(store, options, events, now);
}

const minutesPerDay = 1440;
const noWarnings: ReadonlyMap<string, number> = new Map();

class Statistics implements ReceiverStatistics {
  readonly #store: StatisticsStore;
  readonly #options: ReceiverStatisticsOptions;
  readonly #events: StatisticsEvents;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  /** Receiver ids that exist in the directory. */
  readonly #known = new Set<string>();
  #pending: StatisticsTally;
  #unknown: StatisticsTally;
  #prunedAtMs = 0;
  /** Serialises writes and reads, so that a read counts everything once. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    store: StatisticsStore,
    options: ReceiverStatisticsOptions,
    events: StatisticsEvents,
    now: () => number,
  ) {
    this.#store = store;
    this.#options = options;
    this.#events = events;
    this.#now = now;
    this.#pending = new StatisticsTally(options.pending);
    this.#unknown = new StatisticsTally(options.unknownReceivers);
    let isFlushing = false;
    this.#timer = setInterval(() => {
      if (isFlushing) return;
      isFlushing = true;
      void this.flush().finally(() => {
        isFlushing = false;
      });
    }, options.flushEveryMs).unref();
  }

  accepted(sender: Sender, taken: Parameters<IngestStatistics['accepted']>[1]): void {
    const { receiverId } = sender;
    if (receiverId === undefined) return;
    const { batch, bodyBytes } = taken;
    const nowMs = this.#now();
    this.#known.add(receiverId);
    const counted = {
      events: countEvents(batch),
      bytes: bodyBytes,
      rejected: batch.rejectedCount,
      rejectedByReason: batch.rejectedByReason,
      warnings: batch.warnings ?? noWarnings,
    };
    this.#pending.take(receiverId, counted, nowMs);
    if (batch.rejectedCount === 0) return;
    const at = new Date(nowMs).toISOString();
    for (const sample of toRecordSamples(sender, taken, at)) this.#pending.keep(receiverId, sample);
  }

  replayed({ receiverId }: Sender): void {
    if (receiverId !== undefined) this.#tallyOf(receiverId).repeat(receiverId, this.#now());
  }

  refused(sender: Sender, fault: unknown): void {
    const { receiverId } = sender;
    if (receiverId === undefined) return;
    const nowMs = this.#now();
    const tally = this.#tallyOf(receiverId);
    tally.refuse(receiverId, toErrorCode(fault), nowMs);
    tally.keep(receiverId, toRequestSample(sender, fault, new Date(nowMs).toISOString()));
  }

  history(receiverId: string, span: MinuteSpan): Promise<ReceiverHistory> {
    return this.#inTurn(async () => {
      const stored = await this.#store.findStatistics(receiverId, span);
      const tallies = [this.#pending, this.#unknown];
      return sumOfHistories([stored, ...tallies.map((tally) => tally.history(receiverId, span))]);
    });
  }

  flush(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        await this.#write();
        await this.#prune();
      } catch (error) {
        this.#events.statisticsWriteFailed(error);
      }
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  #tallyOf(receiverId: string): StatisticsTally {
    return this.#known.has(receiverId) ? this.#pending : this.#unknown;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #write(): Promise<void> {
    const [pending, unknown] = [this.#pending, this.#unknown];
    if (pending.isEmpty && unknown.isEmpty) return;
    this.#pending = new StatisticsTally(this.#options.pending);
    this.#unknown = new StatisticsTally(this.#options.unknownReceivers);
    const addition = sumOfAdditions([pending.toAddition(), unknown.toAddition()]);
    try {
      const known = await this.#store.addStatistics(addition);
      for (const { receiverId } of addition.activities) {
        if (known.has(receiverId)) this.#known.add(receiverId);
        else this.#known.delete(receiverId);
      }
    } catch (error) {
      pending.append(this.#pending);
      unknown.append(this.#unknown);
      this.#pending = pending;
      this.#unknown = unknown;
      throw error;
    } finally {
      const { minutes, samples } = pending.drainDropped();
      if (minutes + samples > 0) this.#events.statisticsDropped(minutes, samples);
    }
  }

  async #prune(): Promise<void> {
    const nowMs = this.#now();
    if (nowMs - this.#prunedAtMs < this.#options.pruneEveryMs) return;
    const minute = Math.floor(nowMs / minuteMs);
    await this.#store.pruneStatistics(minute - this.#options.retentionDays * minutesPerDay);
    this.#prunedAtMs = nowMs;
  }
}
