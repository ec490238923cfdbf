/**
 * The reads of one account's metrics: plan, ask the store, shape the answer. Each is one journey in
 * that order.
 */
import { setImmediate } from 'node:timers/promises';
import { compress } from 'snappy';
import type { Grants } from '../directory/port.ts';
import { AppError } from '../model/errors.ts';
import type { SeriesSamples } from '../model/metric-plan.ts';
import type { Asker } from '../model/read-route.ts';
import type { ReadContext } from '../model/readable-streams.ts';
import { createTurns } from '../std/turns.ts';
import type { Store } from '../store/port.ts';
import { cutTo, success, toExemplars, toLabelSet, toMetadata } from './answers.ts';
import { type MetricsLimits, planExemplars, planMetadata, planReads, planSeries } from './plan.ts';
import { decodeReadRequest } from './read-request.ts';
import { encodeReadResponse } from './read-response.ts';
import type { ExemplarsQuery, MetadataQuery, SeriesQuery } from './requests.ts';
import type { ExemplarsData, MetadataData, Success } from './responses.ts';

export interface MetricsReaderParts {
  readonly store: Pick<
    Store,
    'samples' | 'series' | 'labelNames' | 'labelValues' | 'metricMetadata' | 'exemplars'
  >;
  readonly grants: Pick<Grants, 'streams'>;
  /** Unix ms. */
  readonly now: () => number;
}

export const defaultMetricsLimits: MetricsLimits = {
  maxReadSeries: 100_000,
  maxReadSamples: 5_000_000,
  maxExemplars: 100_000,
  maxSelectors: 100,
};

/** A remote read holds some seventy bytes for each of its samples, so few are at it at a time. */
const concurrentReads = 3;
const maxWaitingReads = 200;

/**
 * Every call may throw AppError `malformed`, `not_found` or `unavailable`; an answer that is short
 * of anything says so. Once the asker has left, the store stops working on it.
 */
export interface MetricsReader {
  labelNames(asker: Asker, query: SeriesQuery): Promise<Success<string[]>>;
  labelValues(asker: Asker, name: string, query: SeriesQuery): Promise<Success<string[]>>;
  series(asker: Asker, query: SeriesQuery): Promise<Success<Record<string, string>[]>>;
  metadata(asker: Asker, query: MetadataQuery): Promise<Success<MetadataData>>;
  exemplars(asker: Asker, query: ExemplarsQuery): Promise<Success<ExemplarsData>>;
  /**
   * Remote read.
   * @param message a `prometheus.ReadRequest`.
   * @returns a `prometheus.ReadResponse` with samples, as a block of snappy.
   */
  read(asker: Asker, message: Uint8Array): Promise<Uint8Array>;
}

export function createMetricsReader(
  parts: MetricsReaderParts,
  limits: MetricsLimits,
): MetricsReader {
  const { store, grants, now } = parts;
  const { maxReadSeries } = limits;
  const turns = createTurns({
    what: 'remote reads',
    places: concurrentReads,
    maxWaiting: maxWaitingReads,
  });

  async function contextOf({ accountId }: Asker): Promise<ReadContext> {
    return { accountId, streams: await grants.streams(accountId), nowMs: now() };
  }

  /** The series of each plan; of none where there is none. */
  async function readAll(
    plans: ReturnType<typeof planReads>,
    { left }: Asker,
  ): Promise<SeriesSamples[][]> {
    const results: SeriesSamples[][] = [];
    let samples = 0;
    for (const plan of plans) {
      const found = plan === undefined ? [] : await store.samples(plan, left);
      for (const { times, histograms } of found) samples += times.length + histograms.length;
      if (samples > limits.maxReadSamples) throw tooManySamples(limits);
      results.push(found);
    }
    return results;
  }

  return {
    async labelNames(asker, query) {
      const plan = planSeries(await contextOf(asker), query, limits);
      return cutTo(await store.labelNames(plan, asker.left), query.limit, maxReadSeries);
    },
    async labelValues(asker, name, query) {
      const plan = planSeries(await contextOf(asker), query, limits);
      return cutTo(await store.labelValues(plan, name, asker.left), query.limit, maxReadSeries);
    },
    async series(asker, query) {
      if (query['match[]'] === undefined) {
        throw new AppError('malformed', 'cannot answer without parameter match[]', {
          parameter: 'match[]',
        });
      }
      const plan = planSeries(await contextOf(asker), query, limits);
      const { data, ...rest } = cutTo(
        await store.series(plan, asker.left),
        query.limit,
        maxReadSeries,
      );
      return { ...success(data.map(toLabelSet)), ...rest };
    },
    async metadata(asker, query) {
      const plan = planMetadata(await contextOf(asker), query, limits);
      const { limit, limit_per_metric: perMetric } = query;
      return toMetadata(
        await store.metricMetadata(plan, asker.left),
        { limit, perMetric },
        maxReadSeries,
      );
    },
    async exemplars(asker, query) {
      const plan = planExemplars(await contextOf(asker), query, limits);
      return toExemplars(await store.exemplars(plan, asker.left));
    },
    async read(asker, message) {
      const plans = planReads(await contextOf(asker), decodeReadRequest(message), limits);
      const leave = await turns.take(asker.accountId, asker.left);
      try {
        return await compress(await encodeInTurns(await readAll(plans, asker)));
      } finally {
        leave();
      }
    },
  };
}

/** Other requests get their turn while a large answer is written. */
async function encodeInTurns(results: readonly SeriesSamples[][]): Promise<Uint8Array> {
  const encoding = encodeReadResponse(results);
  for (;;) {
    const { done, value } = encoding.next();
    if (done) return value;
    await setImmediate();
  }
}

function tooManySamples({ maxReadSamples }: MetricsLimits): AppError {
  return new AppError(
    'unavailable',
    `cannot answer with more than ${maxReadSamples} samples: ask for fewer series or a shorter ` +
      'range, or raise metrics.maxReadSamples',
  );
}
