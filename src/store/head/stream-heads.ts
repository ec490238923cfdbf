/** The heads of the streams whose metrics are read, and the memory that they share. */
import { toDay } from '../../codec/metric-rows.ts';
import type { StampedBatch } from '../../model/batch.ts';
import type { ReadableStream } from '../../model/plan.ts';
import { type LoadParts, loadSeries, maxSeriesOfStream } from './load.ts';
import { StreamHead } from './stream-head.ts';
import type { Budget } from './timelines.ts';
import { warmUp } from './warm-up.ts';

export interface HeadOptions {
  /** Memory of samples, in 16 bytes: a time, which series may share, and a value. */
  readonly maxSamples: number;
  /** Unix ms. */
  readonly now: () => number;
}

/** A head without reads for this long is dropped. */
const idleMs = 15 * 60_000;

/** Retention changes by whole days; reads at once differ by seconds. */
const retentionChangeNanos = 3_600_000_000_000n;

/** A warm-up that fails leaves the reads to those who need them, and the error too. */
const ignored = () => undefined;

interface Entry {
  readonly stream: ReadableStream;
  readonly head: StreamHead;
  /** False for a stream with too many series. */
  readonly loaded: Promise<boolean>;
  isLoaded: boolean;
  readMs: number;
}

export class StreamHeads {
  readonly #parts: LoadParts;
  readonly #options: HeadOptions;
  readonly #budget: Budget = { samples: 0 };
  readonly #entries = new Map<string, Entry>();

  constructor(parts: LoadParts, options: HeadOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /**
   * Resolves once `of` has the heads of all of these streams; undefined if it has them already,
   * since most reads find them.
   */
  loading(accountId: string, streams: readonly ReadableStream[]): Promise<unknown> | undefined {
    const entries = streams.map((stream) => this.#entry(accountId, stream));
    const rest = entries.filter(({ isLoaded }) => !isLoaded);
    return rest.length === 0 ? undefined : Promise.all(rest.map(({ loaded }) => loaded));
  }

  /** @returns undefined for a stream with too many series, and for one that is not loaded */
  of(accountId: string, streamId: string): StreamHead | undefined {
    const entry = this.#entries.get(keyOf(accountId, streamId));
    return entry?.isLoaded ? entry.head : undefined;
  }

  inserted(batches: readonly StampedBatch[]): void {
    for (const { owner, payload, receivedAtNanos } of batches) {
      const key = keyOf(owner.accountId, owner.streamId);
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      const { deletedUntilNanos = 0n } = entry.stream;
      if (this.#isIdle(entry)) this.#drop(key, entry);
      else if (receivedAtNanos > deletedUntilNanos) entry.head.inserted(payload);
    }
  }

  forget(accountId: string, streamId: string): void {
    const key = keyOf(accountId, streamId);
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#drop(key, entry);
  }

  forgetAll(): void {
    for (const [key, entry] of this.#entries) this.#drop(key, entry);
  }

  /** Drops what is idle, then the samples that were not read for the longest time. */
  makeRoom(): void {
    for (const [key, entry] of this.#entries) if (this.#isIdle(entry)) this.#drop(key, entry);
    const { maxSamples } = this.#options;
    if (this.#budget.samples <= maxSamples) return;
    const kept = [...this.#entries.values()].flatMap(({ head }) =>
      head.index.all().filter(({ columns }) => columns !== undefined),
    );
    kept.sort((left, right) => left.columns!.usedAt - right.columns!.usedAt);
    for (const series of kept) {
      if (this.#budget.samples <= maxSamples * 0.75) return;
      series.columns!.drop();
      series.columns = undefined;
    }
  }

  #entry(accountId: string, stream: ReadableStream): Entry {
    const key = keyOf(accountId, stream.streamId);
    const nowMs = this.#options.now();
    const fromDay = toDay(nowMs) - 1;
    const known = this.#entries.get(key);
    const isCurrent =
      known?.head.fromDay === fromDay &&
      known.head.index.size <= maxSeriesOfStream &&
      known.stream.deletedUntilNanos === stream.deletedUntilNanos &&
      // It may hide no more than it does now.
      known.stream.receivedFromNanos - stream.receivedFromNanos < retentionChangeNanos;
    if (isCurrent) {
      known.readMs = nowMs;
      return known;
    }
    if (known !== undefined) this.#drop(key, known);
    const head = new StreamHead(fromDay, this.#budget);
    const loaded = loadSeries(this.#parts, { accountId, stream, head });
    const entry: Entry = { stream, head, loaded, isLoaded: false, readMs: nowMs };
    this.#entries.set(key, entry);
    loaded.then(
      () => (entry.isLoaded = true),
      () => {
        if (this.#entries.get(key) === entry) this.#drop(key, entry);
      },
    );
    this.#warmUp(accountId, entry).catch(ignored);
    return entry;
  }

  async #warmUp(accountId: string, { stream, head, loaded }: Entry): Promise<void> {
    if (!(await loaded)) return;
    const nowMs = this.#options.now();
    const room = () => this.#options.maxSamples * 0.75 - this.#budget.samples;
    await warmUp(this.#parts, { accountId, stream, head, nowMs, room });
  }

  #isIdle({ readMs }: Entry): boolean {
    return this.#options.now() - readMs > idleMs;
  }

  #drop(key: string, { head }: Entry): void {
    head.close();
    this.#entries.delete(key);
  }
}

function keyOf(accountId: string, streamId: string): string {
  return `${accountId} ${streamId}`;
}
