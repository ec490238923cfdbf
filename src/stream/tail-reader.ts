/** The cursor of one tail in the order of arrival: its position, its filter and its next page. */
import type { Grants } from '../directory/port.ts';
import type { Stream } from '../model/account.ts';
import { type ArrivalPosition, arrivalsUntil } from '../model/arrival.ts';
import type { LogFilter } from '../model/plan.ts';
import type { ArrivalPage, ArrivalPages, PageRequest } from './arrival-pages.ts';
import type { ArrivalSource, ArrivalWatch } from './arrival-watch.ts';
import { toFilter } from './plan.ts';
import type { TailQuery } from './requests.ts';
import type { Dropped } from './tail-events.ts';

export interface TailReaderParts extends ArrivalSource {
  readonly grants: Pick<Grants, 'streams'>;
  readonly pages: ArrivalPages;
  readonly watch: ArrivalWatch;
  /** Size of a page at present, bytes; a single log may be larger. */
  readonly pageBytes: () => number;
  /** Unix ms. */
  readonly now: () => number;
}

export interface TailReaderOptions {
  /** Between two checks of the token and of retention, ms. */
  readonly recheckMs: number;
  /** Between two reads of the store for a live tail, ms. */
  readonly minReadIntervalMs: number;
  readonly maxPageLogs: number;
}

export interface TailRequest {
  readonly accountId: string;
  readonly query: TailQuery;
  /** Undefined = begin now. */
  readonly after: ArrivalPosition | undefined;
  readonly signal: AbortSignal;
  /** @throws AppError where the token no longer permits the tail. */
  readonly recheck: () => Promise<void>;
}

export interface TailStep {
  readonly page?: ArrivalPage;
  readonly dropped?: Dropped;
}

const nothing: TailStep = {};
const firstPageLogs = 100;
/** A page may exceed its size by this factor. */
const pageTolerance = 2;
/** A page may exceed the one before it by this factor. */
const pageGrowth = 4;
const nanosPerSecond = 1_000_000_000n;

export class TailReader {
  readonly #parts: TailReaderParts;
  readonly #options: TailReaderOptions;
  readonly #request: TailRequest;
  #position: ArrivalPosition;
  /** True where stored logs may be waiting. */
  #isBehind: boolean;
  #pageLogs: number;
  #checkedAtMs = performance.now();
  #readAtMs = -Infinity;
  #cached: { readonly streams: readonly Stream[]; readonly filter: LogFilter } | undefined;

  /**
   * A position past the watermark begins at the watermark: after a clock was set back, new logs
   * would otherwise be skipped.
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

  /** Every log up to here was returned, reported as dropped, or does not match. */
  get position(): ArrivalPosition {
    return this.#position;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** @throws AppError `not_found` for an unknown stream. */
  async checkStreams(): Promise<void> {
    await this.#filter();
  }

  /**
   * The next page or gap; empty after `waitMs`, or once the request is aborted.
   * @throws AppError `unauthenticated`, `forbidden`, `not_found`, `unavailable`
   */
  async next(waitMs: number): Promise<TailStep> {
    const { signal } = this.#request;
    await this.recheckWhenDue();
    const untilNanos = await this.#arrivals(waitMs);
    if (untilNanos === undefined || signal.aborted) return nothing;
    // After the wait, so that logs of a stream created meanwhile are not skipped.
    const filter = await this.#filter();
    const streams = this.#streamsToRead(filter);
    if (streams.length === 0) {
      this.#position = arrivalsUntil(untilNanos);
      return nothing;
    }
    const dropped = await this.#drop(filter, untilNanos);
    if (dropped !== undefined) return { dropped };
    const page = await untilAborted(this.#read({ ...filter, streams }, untilNanos), signal);
    if (page === undefined) return nothing;
    this.#position = page.end;
    this.#isBehind = !page.isComplete;
    this.#pageLogs = this.#nextPageLogs(page);
    return { page };
  }

  /** Call before each chunk is sent. @throws AppError */
  async recheckWhenDue(): Promise<void> {
    if (performance.now() - this.#checkedAtMs < this.#options.recheckMs) return;
    await this.#request.recheck();
    this.#checkedAtMs = performance.now();
    // Retention moves with time.
    this.#cached = undefined;
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

  /** Cached for as long as the directory returns the same streams. */
  async #filter(): Promise<LogFilter> {
    const { accountId, query } = this.#request;
    const streams = await this.#parts.grants.streams(accountId);
    if (this.#cached?.streams === streams) return this.#cached.filter;
    const filter = toFilter({ accountId, streams, nowMs: this.#parts.now() }, query);
    this.#cached = { streams, filter };
    return filter;
  }

  /** Of an account with thousands of streams, few have logs after the position of a live tail. */
  #streamsToRead({ streams }: LogFilter): LogFilter['streams'] {
    if (this.#isBehind) return streams;
    const { receivedAtNanos } = this.#position;
    return streams.filter(
      ({ streamId }) => this.#parts.newestReceiptNanos(streamId) > receivedAtNanos,
    );
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
   * A tail over the allowed lag continues from half of it, so that the stretch it reads next has no
   * gaps.
   */
  async #drop(filter: LogFilter, untilNanos: bigint): Promise<Dropped | undefined> {
    const maxLagNanos = BigInt(this.#request.query.maxLagSeconds) * nanosPerSecond;
    const known = this.#newestOf(filter);
    // Unknown until this process has stored a log of these streams.
    const newest = known === 0n || known > untilNanos ? untilNanos : known;
    const fromNanos = this.#position.receivedAtNanos;
    if (newest - fromNanos <= maxLagNanos) return undefined;
    const until = newest - maxLagNanos / 2n;
    const range = {
      filter: visibleFrom(filter, fromNanos),
      after: this.#position,
      untilNanos: until,
    };
    const request = this.#pageRequest();
    const count = await untilAborted(this.#parts.pages.count(range, request), request.signal);
    if (count === undefined) return undefined;
    // The newest log may be old too, and a single page is read quickly.
    if (known === 0n && count > 0 && count <= this.#options.maxPageLogs) return undefined;
    this.#position = arrivalsUntil(until);
    this.#isBehind = true;
    return count === 0 ? undefined : { count, fromNanos, untilNanos: until };
  }

  #read(filter: LogFilter, untilNanos: bigint): Promise<ArrivalPage> {
    this.#readAtMs = performance.now();
    const plan = {
      filter: visibleFrom(filter, this.#position.receivedAtNanos),
      after: this.#position,
      untilNanos,
      limit: this.#pageLogs,
      maxBytes: Math.floor(this.#parts.pageBytes() * pageTolerance),
    };
    return this.#parts.pages.read(plan, this.#pageRequest());
  }

  #pageRequest(): PageRequest {
    return { signal: this.#request.signal, lane: this.#isBehind ? 'catchUp' : 'live' };
  }

  /** Logs that fit a page if they have the size of those on the last one. */
  #nextPageLogs({ logs, bytes }: ArrivalPage): number {
    if (logs === 0) return this.#pageLogs;
    const fitting = Math.floor((this.#parts.pageBytes() * logs) / bytes);
    const { maxPageLogs } = this.#options;
    return Math.max(1, Math.min(fitting, maxPageLogs, this.#pageLogs * pageGrowth));
  }
}

/**
 * Drops limits of receipt before the position, which hide nothing after it, so that tails at one
 * position have equal plans.
 */
function visibleFrom(filter: LogFilter, fromNanos: bigint): LogFilter {
  const streams = filter.streams.map((stream) =>
    stream.receivedFromNanos <= fromNanos
      ? { streamId: stream.streamId, receivedFromNanos: 0n }
      : stream,
  );
  return { ...filter, streams };
}

/** @returns undefined once aborted; the result is left to the tails that share it. */
function untilAborted<Result>(
  result: Promise<Result>,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Result | undefined>();
  const onAbort = () => resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  return promise;
}
