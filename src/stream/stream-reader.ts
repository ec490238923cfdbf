/**
 * The reads of one account's logs: plan, ask the store, shape the answer. Each is one journey in
 * that order.
 */
import type { Grants } from '../directory/port.ts';
import type { ListPlan, LogRecord } from '../model/plan.ts';
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
 * of logs.
 */
export interface StreamReader {
  list(accountId: string, query: ListQuery): Promise<ListResponse>;
  log(accountId: string, logId: string, query: LogQuery): Promise<LogRecord>;
  context(accountId: string, logId: string, query: ContextQuery): Promise<ContextResponse>;
  histogram(accountId: string, query: HistogramQuery): Promise<HistogramResponse>;
  facets(accountId: string, query: FacetsQuery): Promise<FacetResponse>;
  facetsBatch(accountId: string, query: FacetsBatchQuery): Promise<FacetsBatchResponse>;
}

export function createStreamReader(parts: StreamReaderParts): StreamReader {
  const { store, grants, watermarkNanos, now } = parts;

  async function contextOf(accountId: string): Promise<ReadContext> {
    return { accountId, streams: await grants.streams(accountId), nowMs: now() };
  }

  async function readOne(context: ReadContext, logId: string, query: LogQuery) {
    const position = parseLogId(logId);
    const plan = planOneLog(context, position, query);
    return { log: toOneLog(position, await store.list(plan)), position };
  }

  /** Nothing is asked of the store where nothing is wanted. */
  async function listSome(plan: ListPlan): Promise<LogRecord[]> {
    return plan.limit === 0 ? [] : store.list(plan);
  }

  return {
    /**
     * The watermark is read first: what it vouches for is then in the store when the list reads.
     */
    async list(accountId, query) {
      const watermark = watermarkNanos();
      const plan = planList(await contextOf(accountId), query, watermark);
      return toListResponse(query, await store.list(plan), watermark);
    },
    async log(accountId, logId, query) {
      return (await readOne(await contextOf(accountId), logId, query)).log;
    },
    async context(accountId, logId, query) {
      const context = await contextOf(accountId);
      const found = await readOne(context, logId, query);
      const { newer, older } = planContext(context, found, query);
      const [after, before] = await Promise.all([listSome(newer), listSome(older)]);
      return { after, log: found.log, before };
    },
    async histogram(accountId, query) {
      const plan = planHistogram(await contextOf(accountId), query);
      return toHistogramResponse(plan, await store.histogram(plan));
    },
    async facets(accountId, query) {
      const names = [query.field];
      const plan = planFacets(await contextOf(accountId), query, names);
      return toFacetResponses(names, await store.facets(plan))[0]!;
    },
    async facetsBatch(accountId, query) {
      const plan = planFacets(await contextOf(accountId), query, query.fields);
      return { facets: toFacetResponses(query.fields, await store.facets(plan)) };
    },
  };
}
