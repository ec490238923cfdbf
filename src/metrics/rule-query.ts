/** PromQL of rules: the vector at one time, of one stream. */
import { readableStreams, readContext, type ReadContextSource } from '../model/readable-streams.ts';
import type { RuleSample } from '../model/rules.ts';
import type { Store } from '../store/port.ts';
import { evaluateQuery, parsePromql } from './evaluate-query.ts';
import type { MetricsLimits } from './plan.ts';

export interface RuleQueryParts extends ReadContextSource {
  readonly store: Pick<Store, 'samples'>;
}

type Limits = Parameters<typeof evaluateQuery>[2] & Pick<MetricsLimits, 'queryTimeoutSeconds'>;

/** A function that throws AppError, also `execution` where the result is no vector. */
export function createRuleQuery(parts: RuleQueryParts, limits: Limits) {
  return async (
    { accountId, streamId }: { readonly accountId: string; readonly streamId: string },
    text: string,
    atMs: number,
  ): Promise<RuleSample[]> => {
    const streams = readableStreams(await readContext(parts, accountId), [streamId]);
    const times = { startMs: atMs, endMs: atMs, stepMs: 0 };
    const deadline = performance.now() + limits.queryTimeoutSeconds * 1000;
    const asked = { text, expr: parsePromql(text), times, accountId, streams, deadline };
    const { result } = await evaluateQuery(parts.store, { ...asked, signal: undefined }, limits);
    if (result.type === 'scalar') return [{ labels: {}, value: result.point.value }];
    if (result.type !== 'vector') {
      throw new Error(`cannot use a ${result.type} as the result of a rule: it must be a vector`);
    }
    return result.series.map(({ labels, points }) => {
      const { value } = points[0]!;
      if (typeof value !== 'number') {
        throw new Error('cannot use native histograms as the result of a rule: apply a function');
      }
      return { labels: Object.fromEntries(labels) as Record<string, string>, value };
    });
  };
}
