/** A page of logs from the newest ones of streams that are in memory. Pure. */
import type { LogPosition } from '../../model/log-id.ts';
import type { ListPlan, LogFilter, ReadableStream } from '../../model/plan.ts';
import type { LogRow } from '../sql/log-record.ts';
import { rowFilter } from './row-filter.ts';
import { countUntil, newestFirst, type PlacedRow, type StreamRows } from './stream-rows.ts';

export interface StreamPage {
  readonly stream: ReadableStream;
  readonly rows: StreamRows;
}

/** More logs take as long to decode as a statement; fields are compared without. */
const maxDecodedRows = 4_000;

/** The newest first; undefined where logs below the floor of a stream may belong to the page. */
export function pageOf(plan: ListPlan, pages: readonly StreamPage[]): LogRow[] | undefined {
  const { filter, limit, direction, position } = plan;
  const streams = pages.map(({ stream, rows }) => ({ stream, ...scanned(filter, rows) }));
  const floor = streams
    .flatMap((each) => each.floor ?? [])
    .reduce<LogPosition | undefined>((a, b) => (a && newestFirst(a, b) < 0 ? a : b), undefined);
  const isAbove = (one: LogPosition) => floor === undefined || newestFirst(one, floor) <= 0;
  const startsAbove =
    floor === undefined || (filter.fromNanos !== undefined && filter.fromNanos > floor.timeNanos);
  const isNewer = direction === 'newer';
  if (isNewer && !startsAbove && (position === undefined || !isAbove(position))) return undefined;
  const matches = rowTest(plan);
  const found = streams.flatMap(({ stream, rows }) => {
    const isWanted = (one: PlacedRow) =>
      one.receivedNanos >= stream.receivedFromNanos && isAbove(one) && matches(one);
    // The rows are sorted: those on the other side of the position are not tested.
    const at = position === undefined ? undefined : countUntil(rows, position);
    const side = isNewer ? rows.slice(0, at).toReversed() : rows.slice(at ?? 0);
    return takeRows(side, limit, isWanted);
  });
  found.sort(newestFirst);
  const page = isNewer ? found.slice(-limit) : found.slice(0, limit);
  if (!isNewer && page.length < limit && !startsAbove) return undefined;
  return page.map((one) => one.row());
}

/** What a page with this filter may look at. */
function scanned(
  { labels, search, excluded }: LogFilter,
  { rows, floor }: StreamRows,
): Pick<StreamRows, 'rows' | 'floor'> {
  const isOfFields = labels.length + search.length + (excluded?.labels.length ?? 0) === 0;
  if (isOfFields || rows.length <= maxDecodedRows) return { rows, floor };
  const newest = rows.slice(0, maxDecodedRows);
  return { rows: newest, floor: newest.at(-1) };
}

function takeRows(
  rows: readonly PlacedRow[],
  limit: number,
  isWanted: (row: PlacedRow) => boolean,
): PlacedRow[] {
  const taken: PlacedRow[] = [];
  for (const row of rows) {
    if (taken.length >= limit) break;
    if (isWanted(row)) taken.push(row);
  }
  return taken;
}

function rowTest({ filter, direction, position, untilWatermarkNanos }: ListPlan) {
  const { fromNanos = 0n, untilNanos } = filter;
  const matches = rowFilter(filter);
  const isNewer = direction === 'newer';
  return (one: PlacedRow): boolean => {
    if (one.timeNanos < fromNanos) return false;
    if (untilNanos !== undefined && one.timeNanos >= untilNanos) return false;
    if (isNewer && untilWatermarkNanos !== undefined && one.timeNanos > untilWatermarkNanos) {
      return false;
    }
    const order = position === undefined ? undefined : newestFirst(one, position);
    if (order !== undefined && (isNewer ? order >= 0 : order <= 0)) return false;
    return matches(one);
  };
}
