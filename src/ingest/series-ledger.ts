/**
 * Series whose labels are durable for a day, so that a batch carries only the labels of others, and
 * the number of series per account. Kept in memory: labels of forgotten series are written again.
 */
import { randomBytes } from 'node:crypto';
import type { BatchOwner } from '../model/batch.ts';
import { toDay } from '../codec/metric-rows.ts';
import { seriesState, type SeriesView } from '../model/series-view.ts';

/** The series of one request. */
export interface SeriesClaim extends SeriesView {
  /** False once its answers may be outdated: the sender has to retry. @param nowMs Unix ms */
  isCurrent(nowMs: number): boolean;
  /** Records that the series of the request are durable. */
  confirm(): void;
}

export type SeriesLedger = ReturnType<typeof createSeriesLedger>;

const firstEntries = 1024;
const firstPending = 64;
/** For all accounts, about 50 bytes each. */
const maxEntries = 4_000_000;
/** The store keeps labels this much longer than samples and a day. */
const maxClaimMs = 3_600_000;

/** Counts for the process, as decoders remember across ledgers what a stream's number knows. */
let lastStream = 0;

interface Ledger {
  table: SeriesTable;
  /** Number of each stream id, different from those of earlier ledgers. */
  streams: Map<string, number>;
  seriesByAccount: Map<string, number>;
  /** Labels are written once per day of receipt, so that the store can drop whole days. */
  day: number;
}

/** @param maxSeriesPerAccount limit per day of receipt, as seen by this process */
export function createSeriesLedger({
  maxSeriesPerAccount,
}: {
  readonly maxSeriesPerAccount: number;
}) {
  let ledger = blankLedger(0);
  let forgotten = 0;

  function streamNumber({ streams }: Ledger, streamId: string): number {
    let number = streams.get(streamId);
    if (number === undefined) {
      number = ++lastStream;
      streams.set(streamId, number);
    }
    return number;
  }

  function today(nowMs: number): Ledger {
    const day = toDay(nowMs);
    if (day !== ledger.day || ledger.table.size > maxEntries) ledger = blankLedger(day);
    return ledger;
  }

  return {
    claim({ accountId, streamId }: BatchOwner, nowMs: number): SeriesClaim {
      const own = today(nowMs);
      const stream = streamNumber(own, streamId);
      const before = own.seriesByAccount.get(accountId) ?? 0;
      const since = forgotten;
      let pending: SeriesTable | undefined;
      /** Pending series that are new to the account, not only to the day. */
      let more = 0;
      return {
        streamId,
        maxSeries: maxSeriesPerAccount,
        scope: stream,
        look(ids, at, day) {
          const known = own.table.dayOf(stream, ids, at);
          if (known === day) return seriesState.known;
          if (pending?.dayOf(stream, ids, at) === day) return seriesState.pending;
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
    /** Forgets all series: stored labels may be deleted with their stream or quarantined. */
    forget(): void {
      forgotten += 1;
      ledger = blankLedger(ledger.day);
    },
    /** Number of known series. */
    size: () => ledger.table.size,
  };
}

function blankLedger(day: number): Ledger {
  const table = new SeriesTable(firstEntries);
  return { table, streams: new Map(), seriesByAccount: new Map(), day };
}

/** Four words of the id, the stream (0 = free), the day. */
const wordsPerEntry = 6;

/** A compact map from stream (a number above 0) and series to a day. */
export class SeriesTable {
  /** Random, so that a sender cannot cause collisions. */
  readonly #seed = randomBytes(4).readInt32LE() | 1;
  #entries: Uint32Array;
  #mask: number;
  #size = 0;

  /** @param capacity a power of two; grows at a load of one half */
  constructor(capacity: number) {
    this.#entries = new Uint32Array(capacity * wordsPerEntry);
    this.#mask = capacity - 1;
  }

  get size(): number {
    return this.#size;
  }

  /** @param at offset of the four words of the id @returns the day last set, or -1 */
  dayOf(stream: number, ids: Uint32Array, at: number): number {
    const entry = this.#find(stream, ids, at);
    return this.#entries[entry + 4] === 0 ? -1 : this.#entries[entry + 5]!;
  }

  /** @returns whether the series is new */
  set(stream: number, ids: Uint32Array, at: number, day: number): boolean {
    let entry = this.#find(stream, ids, at);
    const isNew = this.#entries[entry + 4] === 0;
    if (isNew) {
      if (2 * ++this.#size > this.#mask) {
        this.#grow();
        entry = this.#find(stream, ids, at);
      }
      for (let word = 0; word < 4; word += 1) this.#entries[entry + word] = ids[at + word]!;
      this.#entries[entry + 4] = stream;
    }
    this.#entries[entry + 5] = day;
    return isNew;
  }

  /** Copies all entries. @returns how many are new to `other` */
  addTo(other: SeriesTable): number {
    let added = 0;
    for (let entry = 0; entry < this.#entries.length; entry += wordsPerEntry) {
      const stream = this.#entries[entry + 4]!;
      if (stream === 0) continue;
      if (other.set(stream, this.#entries, entry, this.#entries[entry + 5]!)) added += 1;
    }
    return added;
  }

  /** @returns the offset of the entry, or of the free slot for it */
  #find(stream: number, ids: Uint32Array, at: number): number {
    const entries = this.#entries;
    for (let slot = this.#home(stream, ids, at); ; slot = (slot + 1) & this.#mask) {
      const entry = slot * wordsPerEntry;
      if (entries[entry + 4] === 0) return entry;
      if (
        entries[entry] === ids[at] &&
        entries[entry + 1] === ids[at + 1] &&
        entries[entry + 2] === ids[at + 2] &&
        entries[entry + 3] === ids[at + 3] &&
        entries[entry + 4] === stream
      ) {
        return entry;
      }
    }
  }

  #home(stream: number, ids: Uint32Array, at: number): number {
    let hash = Math.imul(ids[at]! ^ Math.imul(stream, 0x9e3779b1), this.#seed);
    hash = Math.imul(hash ^ (hash >>> 15) ^ ids[at + 1]!, 0x85ebca6b);
    return (hash ^ (hash >>> 13)) & this.#mask;
  }

  /** Copies in the order of slots for sequential memory access. */
  #grow(): void {
    const old = this.#entries;
    const grown = new Uint32Array(old.length * 2);
    this.#entries = grown;
    this.#mask = grown.length / wordsPerEntry - 1;
    for (let from = 0; from < old.length; from += wordsPerEntry) {
      if (old[from + 4] === 0) continue;
      let slot = this.#home(old[from + 4]!, old, from);
      while (grown[slot * wordsPerEntry + 4] !== 0) slot = (slot + 1) & this.#mask;
      const to = slot * wordsPerEntry;
      for (let word = 0; word < wordsPerEntry; word += 1) grown[to + word] = old[from + word]!;
    }
  }
}
