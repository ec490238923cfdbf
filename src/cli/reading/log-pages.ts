/**
 * Logs page by page through the cursors of the list, from the newest back or from the oldest on. At
 * most a page of them is held.
 */
import type { LogRecord } from '../../model/plan.ts';
import type { ReadApi } from '../read-api.ts';

interface Position {
  readonly timestamp: string;
  readonly logId: string;
}

interface Page {
  /** Newest first. */
  readonly logs: readonly LogRecord[];
  readonly cursor: Position;
}

const pageLimit = 1_000;
const nilLogId = '00000000-0000-0000-0000-000000000000';

export function toCursorText({ timestamp, logId }: Position): string {
  return `${timestamp},${logId}`;
}

/**
 * @param most logs in all; undefined = all that there are.
 * @param cursor only logs older than this; undefined = from the newest.
 * @yields pages that are not empty, newest first
 */
export async function* pagesBack(
  reads: ReadApi,
  filter: URLSearchParams,
  { most = Infinity, cursor }: { most?: number | undefined; cursor?: string | undefined },
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const query = new URLSearchParams(filter);
  if (cursor !== undefined) query.set('cursor', cursor);
  for (let left = most; left > 0; ) {
    const limit = Math.min(left, pageLimit);
    query.set('limit', String(limit));
    const page = await reads.get<Page>(['logs'], query);
    if (page.logs.length > 0) yield page.logs;
    if (page.logs.length < limit) return;
    left -= limit;
    query.set('cursor', toCursorText(page.cursor));
  }
}

/**
 * All logs that there were at the start. The API shows what is newer than a position only up to
 * where nothing more can come in between, so the last few are read from the other end.
 * @yields pages that are not empty, oldest first
 */
export async function* pagesOn(
  reads: ReadApi,
  filter: URLSearchParams,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const [newest] = await readNewest(reads, filter, 1);
  if (newest === undefined) return;
  const query = new URLSearchParams(filter);
  query.set('limit', String(pageLimit));
  query.set('since', `${filter.get('sinceTime') ?? new Date(0).toISOString()},${nilLogId}`);
  let last = nilLogId;
  while (last < newest.logId) {
    const { logs, cursor } = await reads.get<Page>(['logs'], query);
    const known = logs.filter(({ logId }) => logId <= newest.logId).reverse();
    if (known.length > 0) yield known;
    last = known.at(-1)?.logId ?? last;
    if (known.length < pageLimit) break;
    query.set('since', toCursorText(cursor));
  }
  yield* rest(reads, filter, { after: last, newest });
}

/** Logs after `after` up to `newest`, which are few. */
async function* rest(
  reads: ReadApi,
  filter: URLSearchParams,
  { after, newest }: { after: string; newest: LogRecord },
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  if (after >= newest.logId) return;
  const pages: (readonly LogRecord[])[] = [];
  for await (const page of pagesBack(reads, filter, {})) {
    const newer = page.filter(({ logId }) => logId > after && logId <= newest.logId);
    if (newer.length > 0) pages.push(newer.toReversed());
    if ((page.at(-1)?.logId ?? '') <= after) break;
  }
  yield* pages.reverse();
}

/** @returns newest first. @param limit 1 to 1,000. */
export async function readNewest(
  reads: ReadApi,
  filter: URLSearchParams,
  limit: number,
): Promise<readonly LogRecord[]> {
  const query = new URLSearchParams(filter);
  query.set('limit', String(limit));
  return (await reads.get<Page>(['logs'], query)).logs;
}
