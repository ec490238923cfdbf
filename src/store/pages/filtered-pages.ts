/**
 * The newest logs of one stream that match a filter, for the filters that were asked for last: a
 * page of a rare service reads a block for each of its logs, but only once.
 */
import type { LogFilter, ReadableStream } from '../../model/plan.ts';
import { rowFilter } from './row-filter.ts';
import { type PlacedRow, placedRow, StreamRows } from './stream-rows.ts';

export interface FilteredPage {
  /** As it was when the page was read. */
  readonly stream: ReadableStream;
  readonly rows: StreamRows;
  readonly matches: (one: PlacedRow) => boolean;
}

/** More logs than this are not kept. */
export const maxPageRows = 1_000;
/** Estimated, for one page. */
const maxBytes = 2 ** 20;
const maxPages = 8;

export class FilteredPages {
  /** The least recently asked first. */
  readonly #pages = new Map<string, FilteredPage>();

  /** May hold no logs yet. */
  find(filter: LogFilter): FilteredPage | undefined {
    const key = keyOf(filter);
    const page = this.#pages.get(key);
    if (page === undefined) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, page);
    return page;
  }

  /** To be called before the logs are read, so that none inserted meanwhile is missing. */
  open(filter: LogFilter, stream: ReadableStream): FilteredPage {
    const page: FilteredPage = {
      stream,
      rows: new StreamRows({ maxRows: maxPageRows, maxBytes }),
      matches: rowFilter(filter),
    };
    const key = keyOf(filter);
    this.#pages.delete(key);
    this.#pages.set(key, page);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > maxPages) this.#pages.delete(oldest!);
    return page;
  }

  drop(filter: LogFilter, page: FilteredPage): void {
    const key = keyOf(filter);
    if (this.#pages.get(key) === page) this.#pages.delete(key);
  }

  inserted(rows: readonly PlacedRow[]): void {
    for (const { rows: kept, matches } of this.#pages.values()) {
      kept.add(rows.filter(matches).map((one) => placedRow(one.row())));
    }
  }
}

/** Everything but the account, the stream and the times. */
function keyOf({ equal, minSeverity, labels, search, excluded }: LogFilter): string {
  return JSON.stringify([
    [...equal],
    minSeverity,
    labels,
    search,
    [...(excluded?.equal ?? [])],
    excluded?.labels,
  ]);
}
