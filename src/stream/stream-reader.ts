/**
 * The reads of one account's logs: plan, ask the store, shape the answer. Each is one journey in
 * that order.
 */
import type { Grants } from '../directory/port.ts';
import type { ListPlan, LogRecord } from '../model/plan.ts';
import type { Asker } from '../model/read-route.ts';
import type { ReadContext } from '../model/readable-streams.ts';
import type { Store } from '../store/port.ts';
import { planContext } from './context.ts';
import { toFacetResponses } from './facets.ts';
import { toHistogramResponse } from './histogram.ts';
import { toListResponse } from './list.ts';
import { type ContextQuery, type LogQuery, parseLogId } from './log-requests.ts';
import { planOneLog, toOneLog } from './one-log.ts';
import { planFacets, planHistogram, planList } from './plan.ts';
import type { FacetsBatchQuery, FacetsQuery, HistogramQuery, ListQuery } from './requests.ts';
import type {
  ContextResponse,
  FacetResponse,
  FacetsBatchResponse,
  HistogramResponse,
  ListResponse,
} from './responses.ts';

export interface StreamReaderParts {
  readonly store: Pick<Store, 'list' | 'histogram' | 'facets'>;
  readonly grants: Pick<Grants, 'streams'>;
  /** Unix ns up to which everything that Weir stamps is in the store; see the queue's port. */
  readonly watermarkNanos: () => bigint;
  /** Unix ms. */
  readonly now: () => number;
}

/**
 * Every call may throw AppError `malformed`, `not_found` or `unavailable`; no answer is ever short
 * of logs. Once the asker has left, the store stops working on it.
 */
export interface StreamReader {
  list(asker: Asker, query: ListQuery): Promise<ListResponse>;
  log(asker: Asker, logId: string, query: LogQuery): Promise<LogRecord>;
  context(asker: Asker, logId: string, query: ContextQuery): Promise<ContextResponse>;
  histogram(asker: Asker, query: HistogramQuery): Promise<HistogramResponse>;
  facets(asker: Asker, query: FacetsQuery): Promise<FacetResponse>;
  facetsBatch(asker: Asker, query: FacetsBatchQuery): Promise<FacetsBatchResponse>;
}

export function createStreamReader(parts: StreamReaderParts): StreamReader {
  const { store, grants, watermarkNanos, now } = parts;

  async function contextOf({ accountId }: Asker): Promise<ReadContext> {
    return { accountId, streams: await grants.streams(accountId), nowMs: now() };
  }

  async function readOne(asker: Asker, logId: string, query: LogQuery) {
    const context = await contextOf(asker);
    const position = parseLogId(logId);
    const plan = planOneLog(context, position, query);
    return { context, log: toOneLog(position, await store.list(plan, asker.left)), position };
  }

  /** Nothing is asked of the store where nothing is wanted. */
  async function listSome(plan: ListPlan, { left }: Asker): Promise<LogRecord[]> {
    return plan.limit === 0 ? [] : store.list(plan, left);
  }

  return {
    /**
     * The watermark is read first: what it vouches for is then in the store when the list reads.
     */
    async list(asker, query) {
      const watermark = watermarkNanos();
      const plan = planList(await contextOf(asker), query, watermark);
      return toListResponse(query, await store.list(plan, asker.left), watermark);
    },
    async log(asker, logId, query) {
      return (await readOne(asker, logId, query)).log;
    },
    async context(asker, logId, query) {
      const { context: around, ...found } = await readOne(asker, logId, query);
      const { newer, older } = planContext(around, found, query);
      const [after, before] = await Promise.all([listSome(newer, asker), listSome(older, asker)]);
      return { after, log: found.log, before };
    },
    async histogram(asker, query) {
      const plan = planHistogram(await contextOf(asker), query);
      return toHistogramResponse(plan, await store.histogram(plan, asker.left));
    },
    async facets(asker, query) {
      const names = [query.field];
      const plan = planFacets(await contextOf(asker), query, names);
      return toFacetResponses(names, await store.facets(plan, asker.left))[0]!;
    },
    async facetsBatch(asker, query) {
      const plan = planFacets(await contextOf(asker), query, query.fields);
      return { facets: toFacetResponses(query.fields, await store.facets(plan, asker.left)) };
    },
  };
}
