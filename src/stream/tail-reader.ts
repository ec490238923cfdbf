/**
 * One reader's way along the order of arrival: where it is, what it may see, and what comes next
 * for it. It knows nothing of events or of who reads.
 */
import type { Grants } from '../directory/port.ts';
import { type ArrivalPosition, arrivalsUntil } from '../model/arrival.ts';
import type { Stream } from '../model/account.ts';
import type { LogFilter } from '../model/plan.ts';
import type { ArrivalPage, ArrivalPages } from './arrival-pages.ts';
import type { ArrivalWatch, ArrivalWatchParts } from './arrival-watch.ts';
import { toFilter } from './plan.ts';
import type { Dropped } from './tail-events.ts';
import type { TailQuery } from './tail-request.ts';

export interface TailReaderParts extends ArrivalWatchParts {
  readonly grants: Pick<Grants, 'streams'>;
  readonly pages: ArrivalPages;
  readonly watch: ArrivalWatch;
  /** What a page should have at most for now, bytes; one log may be larger. */
  readonly pageBytes: () => number;
  /** Unix ms. */
  readonly now: () => number;
}

export interface TailReaderOptions {
  /** How long what was found out of the token and the streams holds, ms. */
  readonly recheckMs: number;
  /** Between two reads of the store for one reader, ms, unless it is behind. */
  readonly minReadIntervalMs: number;
  readonly maxPageLogs: number;
}

export interface TailRequest {
  readonly accountId: string;
  readonly query: TailQuery;
  /** Undefined = begin now. */
  readonly after: ArrivalPosition | undefined;
  readonly signal: AbortSignal;
  /** @throws AppError where the token no longer permits it. */
  readonly recheck: () => Promise<void>;
}

export type TailStep =
  | { readonly kind: 'page'; readonly page: ArrivalPage }
  | { readonly kind: 'dropped'; readonly dropped: Dropped }
  | { readonly kind: 'nothing' };

const nothing: TailStep = { kind: 'nothing' };
const firstPageLogs = 100;
/** A page may be larger than it should be, but not by more than this. */
const pageTolerance = 2;
/** The next one may be larger than the last, but not by more than this. */
const pageGrowth = 4;
const nanosPerSecond = 1_000_000_000n;

export class TailReader {
  readonly #parts: TailReaderParts;
  readonly #options: TailReaderOptions;
  readonly #request: TailRequest;
  #position: ArrivalPosition;
  /** Whether there may be more to read already. */
  #isBehind: boolean;
  #pageLogs: number;
  #checkedAtMs = performance.now();
  #readAtMs = -Infinity;
  #seen: { readonly streams: readonly Stream[]; readonly filter: LogFilter } | undefined;

  /**
   * A position beyond what is stored begins where that ends: a clock that was set back must not
   * hide what is stamped since.
   */
  constructor(parts: TailReaderParts, options: TailReaderOptions, request: TailRequest) {
    this.#parts = parts;
    this.#options = options;
    this.#request = request;
    this.#pageLogs = Math.min(firstPageLogs, options.maxPageLogs);
    const watermark = parts.watermarkNanos();
    const { after } = request;
    this.#isBehind = after !== undefined && after.receivedAtNanos <= watermark;
    this.#position = this.#isBehind ? after! : arrivalsUntil(watermark);
  }

  /** Everything up to here was given out, left out with notice, or is none of its business. */
  get position(): ArrivalPosition {
    return this.#position;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** @throws AppError `not_found` for a stream that is not there. */
  async checkStreams(): Promise<void> {
    await this.#filter();
  }

  /**
   * What comes next, `nothing` after `waitMs` or once the request is aborted.
   * @throws AppError `unauthenticated`, `forbidden`, `not_found`, `unavailable`
   */
  async next(waitMs: number): Promise<TailStep> {
    const { signal } = this.#request;
    await this.recheckWhenDue();
    const untilNanos = await this.#arrivals(waitMs);
    if (untilNanos === undefined || signal.aborted) return nothing;
    // After the wait, so that what has been received by a new stream is not passed over.
    const filter = await this.#filter();
    if (!this.#isBehind && this.#newestOf(filter) <= this.#position.receivedAtNanos) {
      this.#position = arrivalsUntil(untilNanos);
      return nothing;
    }
    const dropped = await this.#drop(filter, untilNanos);
    if (dropped !== undefined) return { kind: 'dropped', dropped };
    const page = await untilAborted(this.#read(filter, untilNanos), signal);
    if (page === undefined) return nothing;
    this.#position = page.end;
    this.#isBehind = !page.isComplete;
    this.#pageLogs = this.#nextPageLogs(page);
    return { kind: 'page', page };
  }

  /** To be called before anything is given out. @throws AppError */
  async recheckWhenDue(): Promise<void> {
    if (performance.now() - this.#checkedAtMs < this.#options.recheckMs) return;
    await this.#request.recheck();
    this.#checkedAtMs = performance.now();
    // Retention moves on with the time.
    this.#seen = undefined;
    await this.#filter();
  }

  /** @returns Unix ns up to which to read; undefined = nothing has arrived. */
  async #arrivals(waitMs: number): Promise<bigint | undefined> {
    if (this.#isBehind) return this.#parts.watermarkNanos();
    const { recheckMs, minReadIntervalMs } = this.#options;
    const { untilNanos, hasArrivals } = await this.#parts.watch.wait({
      afterNanos: this.#position.receivedAtNanos,
      notBeforeMs: this.#readAtMs + minReadIntervalMs,
      deadlineMs: Math.min(performance.now() + waitMs, this.#checkedAtMs + recheckMs),
      signal: this.#request.signal,
    });
    if (hasArrivals) return untilNanos;
    if (untilNanos > this.#position.receivedAtNanos) this.#position = arrivalsUntil(untilNanos);
    return undefined;
  }

  /** As long as the directory answers with the same streams, the same filter. */
  async #filter(): Promise<LogFilter> {
    const { accountId, query } = this.#request;
    const streams = await this.#parts.grants.streams(accountId);
    if (this.#seen?.streams === streams) return this.#seen.filter;
    const context = { accountId, streams, nowMs: this.#parts.now() };
    const filter = toFilter(context, query);
    this.#seen = { streams, filter };
    return filter;
  }

  #newestOf({ streams }: LogFilter): bigint {
    let newest = 0n;
    for (const { streamId } of streams) {
      const nanos = this.#parts.newestReceiptNanos(streamId);
      if (nanos > newest) newest = nanos;
    }
    return newest;
  }

  /**
   * Beyond the lag allowed it goes on from half of it, so that what it then reads is a stretch
   * without gaps.
   */
  async #drop(filter: LogFilter, untilNanos: bigint): Promise<Dropped | undefined> {
    const maxLagNanos = BigInt(this.#request.query.maxLagSeconds) * nanosPerSecond;
    const known = this.#newestOf(filter);
    // Before this process has stored anything for it, nobody knows how old the newest is.
    const newest = known === 0n || known > untilNanos ? untilNanos : known;
    const fromNanos = this.#position.receivedAtNanos;
    if (newest - fromNanos <= maxLagNanos) return undefined;
    const until = newest - maxLagNanos / 2n;
    const range = { filter: forward(filter, fromNanos), after: this.#position, untilNanos: until };
    const { signal } = this.#request;
    const count = await untilAborted(this.#parts.pages.count(range, signal), signal);
    if (count === undefined) return undefined;
    // The newest may be long ago too, and a page or so is soon read.
    if (known === 0n && count > 0 && count <= this.#options.maxPageLogs) return undefined;
    this.#position = arrivalsUntil(until);
    this.#isBehind = true;
    return count === 0 ? undefined : { count, fromNanos, untilNanos: until };
  }

  #read(filter: LogFilter, untilNanos: bigint): Promise<ArrivalPage> {
    this.#readAtMs = performance.now();
    const plan = {
      filter: forward(filter, this.#position.receivedAtNanos),
      after: this.#position,
      untilNanos,
      limit: this.#pageLogs,
      maxBytes: Math.floor(this.#parts.pageBytes() * pageTolerance),
    };
    return this.#parts.pages.read(plan, this.#request.signal);
  }

  /** As many as should fit if they are like those of the last page. */
  #nextPageLogs({ logs, bytes }: ArrivalPage): number {
    if (logs === 0) return this.#pageLogs;
    const fitting = Math.floor((this.#parts.pageBytes() * logs) / bytes);
    const { maxPageLogs } = this.#options;
    return Math.max(1, Math.min(fitting, maxPageLogs, this.#pageLogs * pageGrowth));
  }
}

/**
 * What is hidden up to the position is out of sight already. Left out, the same plan is the same
 * for all tails at that position.
 */
function forward(filter: LogFilter, fromNanos: bigint): LogFilter {
  const streams = filter.streams.map((stream) =>
    stream.receivedFromNanos <= fromNanos
      ? { streamId: stream.streamId, receivedFromNanos: 0n }
      : stream,
  );
  return { ...filter, streams };
}

/** @returns undefined once aborted; what was asked goes on for whoever shares it. */
function untilAborted<Result>(
  asked: Promise<Result>,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Result | undefined>();
  const onAbort = () => resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  return promise;
}
