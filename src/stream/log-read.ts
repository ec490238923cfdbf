/** Reads of one account's logs: the parts that all of their routes have in common. */
import type { z } from 'zod';
import { jsonResponse, type ReadRequest, type ReadRoute } from '../model/read-route.ts';
import {
  type ReadContext,
  readContext,
  type ReadContextSource,
} from '../model/readable-streams.ts';
import type { Scan } from '../model/plan.ts';
import { withQuery } from '../std/parse-query.ts';

/** The last arguments of each read of the store: an abort kills it, and it adds what it scans. */
export type Reading = readonly [disconnected: AbortSignal | undefined, scanned: Scan | undefined];

interface LogRead<Query extends z.ZodObject>
  extends Pick<ReadRoute, 'path' | 'operationId' | 'summary' | 'description' | 'scope' | 'params'> {
  readonly query: Query;
  readonly response: z.ZodType;
  /** @throws AppError */
  readonly answer: (
    query: z.output<Query>,
    context: ReadContext,
    request: { readonly params: ReadRequest['params']; readonly reading: Reading },
  ) => Promise<unknown>;
}

export function logRead<Query extends z.ZodObject>(
  source: ReadContextSource,
  { query, response, answer, ...route }: LogRead<Query>,
): ReadRoute {
  return {
    ...route,
    method: 'GET',
    response: jsonResponse(response),
    reportsScan: true,
    ...withQuery(query, async (asked, request: ReadRequest) => {
      const { accountId, params, disconnected, scanned } = request;
      const context = await readContext(source, accountId);
      return answer(asked, context, { params, reading: [disconnected, scanned] });
    }),
  };
}
