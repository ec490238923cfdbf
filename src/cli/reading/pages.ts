/** Pages of logs from the newest or from the oldest. */
import type { LogRecord } from '../../model/plan.ts';
import type { Api } from '../api.ts';

interface Position {
  readonly timestamp: string;
  readonly logId: string;
}

interface Page {
  /** In the requested order. */
  readonly logs: readonly LogRecord[];
  readonly cursor: Position;
}

interface PagesOptions {
  readonly order?: 'desc' | 'asc';
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

type Pages = AsyncGenerator<readonly LogRecord[], void, undefined>;

const pageLimit = 1_000;
const nilLogId = '00000000-0000-0000-0000-000000000000';

export function toCursorText({ timestamp, logId }: Position): string {
  return `${timestamp},${logId}`;
}

/** @param limit 1 to 1,000. @returns newest first. */
export async function readNewest(
  api: Api,
  filter: URLSearchParams,
  limit: number,
): Promise<readonly LogRecord[]> {
  return (await readPage(api, filter, { limit: String(limit) })).logs;
}

/**
 * @param limit of all pages together; default none.
 * @param order default newest first.
 * @param cursor only logs after this one in the order.
 * @yields pages that are not empty
 */
export async function* pagesOf(
  api: Api,
  filter: URLSearchParams,
  { order = 'desc', limit = Infinity, cursor }: PagesOptions = {},
): Pages {
  let position = cursor;
  for (let left = limit; left > 0; ) {
    const size = Math.min(left, pageLimit);
    const page = await readPage(api, filter, {
      order,
      limit: String(size),
      ...(position !== undefined && { cursor: position }),
    });
    if (page.logs.length > 0) yield page.logs;
    if (page.logs.length < size) return;
    left -= size;
    position = toCursorText(page.cursor);
  }
}

/**
 * All logs that exist at the start. The API reads forward only up to where no log can arrive
 * late, so the last few are read backward.
 * @yields pages that are not empty, oldest first
 */
export async function* pagesForward(api: Api, filter: URLSearchParams): Pages {
  const [newest] = await readNewest(api, filter, 1);
  if (newest === undefined) return;
  let since = `${filter.get('sinceTime') ?? new Date(0).toISOString()},${nilLogId}`;
  let last = nilLogId;
  while (last < newest.logId) {
    const { logs, cursor } = await readPage(api, filter, { limit: String(pageLimit), since });
    const known = logs.filter(({ logId }) => logId <= newest.logId).reverse();
    if (known.length > 0) yield known;
    last = known.at(-1)?.logId ?? last;
    if (known.length < pageLimit) break;
    since = toCursorText(cursor);
  }
  if (last >= newest.logId) return;
  const pages: (readonly LogRecord[])[] = [];
  for await (const page of pagesOf(api, filter)) {
    const newer = page.filter(({ logId }) => logId > last && logId <= newest.logId);
    if (newer.length > 0) pages.push(newer.toReversed());
    if ((page.at(-1)?.logId ?? '') <= last) break;
  }
  yield* pages.reverse();
}

function readPage(
  api: Api,
  filter: URLSearchParams,
  parameters: Readonly<Record<string, string>>,
): Promise<Page> {
  const query = new URLSearchParams(filter);
  for (const [name, value] of Object.entries(parameters)) query.set(name, value);
  return api.get<Page>(['logs'], query);
}
