/** PromQL of rules, over one stream: the vector at one time, or at many. */
import { type ReadContextSource, readableStreams, readContext } from '../model/readable-streams.ts';
import type { RuleSample } from '../model/rules.ts';
import type { QueryTimes } from '../promql/evaluation.ts';
import type { Labels } from '../promql/labels.ts';
import type { Point, QueryResult } from '../promql/query.ts';
import type { Store } from '../store/port.ts';
import { evaluateQuery } from './evaluate-query.ts';
import { parsePromql } from './parse-promql.ts';
import type { MetricsLimits } from './plan.ts';

export interface RuleQueryParts extends ReadContextSource {
  readonly store: Pick<Store, 'sampleColumns'>;
}

type Owner = { readonly accountId: string; readonly streamId: string };
type Limits = Parameters<typeof evaluateQuery>[2] & Pick<MetricsLimits, 'queryTimeoutSeconds'>;

/** Functions that throw AppError, also `execution` where the result is no vector. */
export function createRuleQuery(parts: RuleQueryParts, limits: Limits) {
  async function query(
    owner: Owner,
    text: string,
    times: QueryTimes,
    disconnected?: AbortSignal,
  ): Promise<QueryResult> {
    const { accountId, streamId } = owner;
    const streams = readableStreams(await readContext(parts, accountId), [streamId]);
    const deadline = performance.now() + limits.queryTimeoutSeconds * 1000;
    const caller = disconnected && { disconnected };
    const expr = parsePromql(text);
    const asked = { text, expr, times, accountId, streams, deadline, ...(caller && { caller }) };
    const { result } = await evaluateQuery(parts.store, asked, limits);
    return result;
  }

  return {
    /** The vector at one time. */
    async at(owner: Owner, text: string, atMs: number): Promise<RuleSample[]> {
      const result = await query(owner, text, { startMs: atMs, endMs: atMs, stepMs: 0 });
      if (result.type === 'scalar') return [{ labels: {}, value: result.point.value }];
      if (result.type !== 'vector') throw noVector(result.type);
      return result.series.map(({ labels, points }) => toSample(labels, points[0]!));
    },
    /** The vectors at all steps that have samples, by Unix ms. */
    async over(
      owner: Owner,
      text: string,
      times: QueryTimes,
      disconnected?: AbortSignal,
    ): Promise<Map<number, RuleSample[]>> {
      const result = await query(owner, text, times, disconnected);
      if (result.type !== 'matrix') throw noVector(result.type);
      const vectors = new Map<number, RuleSample[]>();
      for (const { labels, points } of result.series) {
        for (const point of points) {
          const vector = vectors.get(point.timeMs) ?? [];
          vector.push(toSample(labels, point));
          vectors.set(point.timeMs, vector);
        }
      }
      return vectors;
    },
  };
}

function noVector(type: string): Error {
  return new Error(`cannot use a ${type} as the result of a rule: it must be a vector`);
}

function toSample(labels: Labels, { value }: Point): RuleSample {
  if (typeof value !== 'number') {
    throw new Error('cannot use native histograms as the result of a rule: apply a function');
  }
  return { labels: Object.fromEntries(labels) as Record<string, string>, value };
}
