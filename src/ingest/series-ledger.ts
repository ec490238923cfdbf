/**
 * Which series have their labels in the queue or the store, for each day, so that a batch brings
 * only those of the others; and how many an account has, so that it has no more than it may. All
 * of it stands in memory: what is forgotten is only written once more.
 */
import type { BatchOwner } from '../model/batch.ts';
import { toDay } from '../codec/metric-rows.ts';
import { seriesState, type SeriesView } from '../model/series-view.ts';
import { SeriesTable } from './series-table.ts';

export interface SeriesLedgerOptions {
  /** Series of one account on one day of receipt, as far as this process has seen them. */
  readonly maxSeriesPerAccount: number;
}

/** What one request is told of its stream's series, and what it brings of them. */
export interface SeriesClaim extends SeriesView {
  /**
   * False once what it told may be wrong: the request is to be decoded again. @param nowMs Unix ms
   */
  isCurrent(nowMs: number): boolean;
  /** What it brought is durable. */
  confirm(): void;
}

export interface SeriesLedger {
  claim(owner: BatchOwner, nowMs: number): SeriesClaim;
  /**
   * Labels that were written may be gone: deleted with their stream's data, or set aside with a
   * batch that the store would not take.
   */
  forget(): void;
  /** Series known. */
  size(): number;
}

const firstEntries = 1024;
const firstPending = 64;
/** Of all accounts: about 50 bytes each. */
const maxEntries = 4_000_000;
/**
 * The store keeps labels so much longer than a day more than samples. Only a clock that leaps can
 * make a request older.
 */
const maxClaimMs = 3_600_000;

interface Ledger {
  table: SeriesTable;
  /** Small numbers for stream ids. */
  streams: Map<string, number>;
  seriesByAccount: Map<string, number>;
  /** Labels are written once a day of receipt, so that whole days can be dropped from the store. */
  day: number;
}

export function createSeriesLedger({ maxSeriesPerAccount }: SeriesLedgerOptions): SeriesLedger {
  let ledger = blankLedger(0);
  let forgotten = 0;

  function today(nowMs: number): Ledger {
    const day = toDay(nowMs);
    if (day !== ledger.day || ledger.table.size > maxEntries) ledger = blankLedger(day);
    return ledger;
  }

  return {
    claim({ accountId, streamId }, nowMs) {
      const own = today(nowMs);
      const stream = streamNumber(own, streamId);
      const before = own.seriesByAccount.get(accountId) ?? 0;
      const since = forgotten;
      let pending: SeriesTable | undefined;
      /** Pending ones that are new to the account, and not only to the day. */
      let more = 0;
      return {
        maxSeries: maxSeriesPerAccount,
        look(ids, at, day) {
          const known = own.table.dayOf(stream, ids, at);
          if (known === day) return seriesState.known;
          if (pending?.dayOf(stream, ids, at) === day) return seriesState.known;
          const isOneMore = known < 0 && (pending?.dayOf(stream, ids, at) ?? -1) < 0;
          if (isOneMore) {
            if (before + more >= maxSeriesPerAccount) return seriesState.refused;
            more += 1;
          }
          pending ??= new SeriesTable(firstPending);
          pending.set(stream, ids, at, day);
          return seriesState.new;
        },
        isCurrent: (laterMs) => since === forgotten && laterMs - nowMs < maxClaimMs,
        confirm() {
          if (pending === undefined) return;
          const added = pending.addTo(own.table);
          const count = own.seriesByAccount.get(accountId) ?? 0;
          own.seriesByAccount.set(accountId, count + added);
        },
      };
    },
    forget() {
      forgotten += 1;
      ledger = blankLedger(ledger.day);
    },
    size: () => ledger.table.size,
  };
}

function blankLedger(day: number): Ledger {
  const table = new SeriesTable(firstEntries);
  return { table, streams: new Map(), seriesByAccount: new Map(), day };
}

function streamNumber({ streams }: Ledger, streamId: string): number {
  let number = streams.get(streamId);
  if (number === undefined) {
    number = streams.size;
    streams.set(streamId, number);
  }
  return number;
}
