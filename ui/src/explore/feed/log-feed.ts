/**
 * The logs of one run of a query: loads pages on demand and appends new logs in live mode. A plain
 * store with bounded memory.
 */
import type { Log, LogPage } from '../../api/models.ts';
import {
  appendListed,
  arrive,
  type LiveRows,
  maxLiveRows,
  noLiveRows,
  release,
} from './live-rows.ts';
import { type Dropped, followTail, type OpenTail, type TailNews } from './tail-news.ts';

export interface PageRequest {
  /** Undefined = first page. */
  readonly cursor: LogPage['cursor'] | undefined;
  readonly limit: number;
  /** False once the tail delivers logs newer than the range. */
  readonly hasEnd: boolean;
  readonly signal: AbortSignal;
}

export interface LogSource {
  readonly list: (request: PageRequest) => Promise<LogPage & { readonly scannedRows: number }>;
  readonly openTail: OpenTail;
}

export type Connection = 'off' | 'connecting' | 'open' | 'interrupted' | 'refused';

export interface FeedState {
  /** In the order of the pages; live rows are newest first. */
  readonly rows: readonly Log[];
  /** Rows of the previous run, until the first page arrives. */
  readonly isStale: boolean;
  /** `full` = the row limit is reached. */
  readonly phase: 'loading' | 'ready' | 'complete' | 'full' | 'failed';
  /** Logs that the service read for the last page. */
  readonly scannedRows: number;
  /** Error of the last page. */
  readonly error: unknown;
  readonly connection: Connection;
  readonly connectionError: unknown;
  readonly isPaused: boolean;
  /** Held back, not shown yet. */
  readonly heldCount: number;
  /** Dropped because too many were held. */
  readonly forgottenCount: number;
  /** Total number of logs that the service dropped. */
  readonly dropped: Dropped | undefined;
}

const maxListedRows = 100_000;
/** A small first page arrives faster. */
const firstLimit = 200;
const maxLimit = 500;
const minLimit = 10;
const maxPageLength = 2_000_000;
/** New logs within this time are rendered together. */
const batchMs = 80;
const maxBatch = 2_000;

export class LogFeed {
  readonly #source: LogSource;
  /** False after live mode: tailed logs are newer than the range. */
  #hasEnd = true;
  #state: FeedState;
  #live: LiveRows = noLiveRows;
  #arrived: Log[] = [];
  #batchTimer: ReturnType<typeof setTimeout> | undefined;
  #nextLimit = firstLimit;
  /** Cursor of the last page. */
  #cursor: LogPage['cursor'] | undefined;
  #closing = new AbortController();
  #tail: AbortController | undefined;
  #page: AbortController | undefined;
  #isReading = false;
  readonly #listeners = new Set<() => void>();

  /** @param previousRows shown until the first page is here */
  constructor(source: LogSource, previousRows: readonly Log[] = []) {
    this.#source = source;
    this.#state = { ...initialState, rows: previousRows, isStale: previousRows.length > 0 };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly current = (): FeedState => this.#state;

  /** @returns stops the feed; it can be started again */
  start({ isLive }: { isLive: boolean }): () => void {
    this.#closing = new AbortController();
    if (isLive) this.setLive({ isLive });
    else void this.#loadFirst();
    return () => {
      this.#closing.abort();
      this.#tail = undefined;
      clearTimeout(this.#batchTimer);
    };
  }

  /** Live mode starts with the newest logs; leaving it keeps the rows. */
  setLive({ isLive }: { isLive: boolean }): void {
    if (isLive === (this.#tail !== undefined)) return;
    if (isLive) {
      this.#hasEnd = false;
      this.#tail = new AbortController();
      void this.#follow(AbortSignal.any([this.#tail.signal, this.#closing.signal]));
      return;
    }
    this.#tail?.abort();
    this.#tail = undefined;
    this.#takeBatch();
    this.#release({ connection: 'off', isPaused: false });
  }

  /** Restarts with the first page. */
  readonly reload = (): void => {
    void this.#loadFirst();
  };

  /** Loads the next page, unless one is loading, failed, or was the last. */
  readonly loadMore = (): void => {
    if (this.#state.phase === 'ready') this.retry();
  };

  /** Retries the failed page. */
  readonly retry = (): void => {
    void this.#load({ phase: 'loading', error: undefined });
  };

  readonly pause = (): void => {
    this.#takeBatch();
    this.#change({ isPaused: true });
  };

  /** Releases held logs and follows again. */
  readonly resume = (): void => {
    this.#release({ isPaused: false, dropped: undefined });
  };

  /** Holds new logs while the reader has scrolled down; `resume` releases them. */
  readonly setReading = (isReading: boolean): void => {
    if (this.#isReading === isReading) return;
    this.#isReading = isReading;
    if (!isReading && !this.#state.isPaused) this.#release({});
  };

  #release(change: Partial<FeedState>): void {
    this.#live = release(this.#live);
    this.#change({ ...change, ...this.#endIfFull() });
  }

  /** The next page would begin below the rows that were dropped. */
  #endIfFull(): Partial<FeedState> {
    if (!this.#isFull) return {};
    this.#page?.abort();
    return { phase: 'full', isStale: false };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const news of followTail(this.#source.openTail, signal)) {
      if (signal.aborted) return;
      this.#takeNews(news);
    }
  }

  #takeNews(news: TailNews): void {
    switch (news.kind) {
      case 'logs':
        this.#arrived.push(...news.logs);
        if (this.#arrived.length >= maxBatch) this.#takeBatch();
        else this.#batchTimer ??= setTimeout(() => this.#takeBatch(), batchMs);
        return;
      case 'open':
        this.#change({ connection: 'open', connectionError: undefined });
        // Lists only after the tail is open, so that no log is missed in between.
        if (!news.isResumed) void this.#loadFirst();
        return;
      case 'dropped':
        this.#change({ dropped: addDropped(this.#state.dropped, news.dropped) });
        return;
      case 'connecting':
        this.#change({ connection: 'connecting' });
        return;
      default:
        this.#change({ connection: news.kind, connectionError: news.error });
        // The tail may fail for long; stored logs can be listed meanwhile.
        if (this.#state.phase === 'loading' && this.#page === undefined) void this.#loadFirst();
    }
  }

  #takeBatch(): void {
    clearTimeout(this.#batchTimer);
    this.#batchTimer = undefined;
    if (this.#arrived.length === 0) return;
    const isHolding = this.#state.isPaused || this.#isReading;
    this.#live = arrive(this.#live, this.#arrived, { isHolding });
    this.#arrived = [];
    this.#change(this.#endIfFull());
  }

  async #loadFirst(): Promise<void> {
    this.#page?.abort();
    this.#live = noLiveRows;
    this.#nextLimit = firstLimit;
    this.#cursor = undefined;
    const isStale = this.#state.rows.length > 0;
    await this.#load({ phase: 'loading', error: undefined, isStale });
  }

  async #load(begin: Partial<FeedState>): Promise<void> {
    const page = new AbortController();
    this.#page = page;
    this.#change(begin);
    const signal = AbortSignal.any([page.signal, this.#closing.signal]);
    const [cursor, limit] = [this.#cursor, this.#nextLimit];
    const request = { cursor, limit, hasEnd: this.#hasEnd, signal };
    try {
      const { logs, cursor: end, scannedRows } = await this.#source.list(request);
      if (signal.aborted) return;
      this.#takeBatch();
      if (signal.aborted) return;
      this.#live = appendListed(this.#live, logs, this.#maxRows);
      this.#cursor = end;
      this.#nextLimit = limitAfter(logs);
      this.#change({ phase: this.#phaseAfter(logs, limit), isStale: false, scannedRows });
    } catch (error) {
      if (signal.aborted) return;
      this.#change({ phase: 'failed', error, isStale: false });
    } finally {
      if (this.#page === page) this.#page = undefined;
    }
  }

  get #isFull(): boolean {
    return this.#live.isCut || this.#live.rows.length >= this.#maxRows;
  }

  get #maxRows(): number {
    return this.#tail === undefined ? maxListedRows : maxLiveRows;
  }

  #phaseAfter(logs: readonly Log[], limit: number): FeedState['phase'] {
    if (this.#live.isCut) return 'full';
    if (logs.length < limit) return 'complete';
    return this.#isFull ? 'full' : 'ready';
  }

  #change(change: Partial<FeedState>): void {
    const { rows, held, forgotten } = this.#live;
    const next = { ...this.#state, ...change };
    this.#state = {
      ...next,
      rows: next.isStale ? next.rows : rows,
      heldCount: held.length,
      forgottenCount: forgotten,
    };
    for (const listener of this.#listeners) listener();
  }
}

const initialState: FeedState = {
  rows: [],
  isStale: false,
  phase: 'loading',
  scannedRows: 0,
  error: undefined,
  connection: 'off',
  connectionError: undefined,
  isPaused: false,
  heldCount: 0,
  forgottenCount: 0,
  dropped: undefined,
};

/** Pages of long messages have fewer logs, to keep rendering fast. */
function limitAfter(logs: readonly Log[]): number {
  if (logs.length === 0) return maxLimit;
  const length = logs.reduce((sum, { message }) => sum + message.length + 1000, 0);
  const fitting = Math.floor(maxPageLength / (length / logs.length));
  return Math.max(minLimit, Math.min(maxLimit, fitting));
}

function addDropped(before: Dropped | undefined, now: Dropped): Dropped {
  if (before === undefined) return now;
  return { count: before.count + now.count, fromTime: before.fromTime, untilTime: now.untilTime };
}
