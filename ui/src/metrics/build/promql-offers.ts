/** What the PromQL editor completes, read from the service and kept for a minute. */
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { dataOf } from '../../api/client.ts';
import { useApp } from '../../app/context.ts';
import { labelValues, toRange } from '../metric-reads.ts';
import type { Bounds } from '../metric-query.ts';
import { printSelector } from './built-query.ts';

/** The client that `@prometheus-io/codemirror-promql` asks. */
export interface PromqlOffers {
  readonly metricNames: () => Promise<string[]>;
  readonly labelNames: (metric?: string) => Promise<string[]>;
  readonly labelValues: (label: string, metric?: string) => Promise<string[]>;
  readonly metricMetadata: () => Promise<Record<string, { type: string; help: string }[]>>;
  readonly series: () => Promise<Map<string, string>[]>;
  readonly flags: () => Promise<Record<string, string>>;
}

const base = '/api/v1/prometheus/api/v1';

export function usePromqlOffers(bounds: Bounds): PromqlOffers {
  const { api } = useApp();
  const client = useQueryClient();
  const latest = useRef(bounds);
  latest.current = bounds;
  return useMemo<PromqlOffers>(() => {
    const kept = <Data>(key: readonly string[], read: () => Promise<Data>) =>
      client
        .query({ queryKey: ['promql offers', ...key], queryFn: read, staleTime: 60_000 })
        // A completion that fails offers nothing; the query itself tells the failure.
        .catch(() => undefined);
    const matchOf = (metric: string | undefined) =>
      metric === undefined || metric === ''
        ? {}
        : { match: printSelector({ metric, filters: [] }) };
    const valuesOf = async (label: string, metric?: string) => {
      const asked = { bounds: latest.current, ...matchOf(metric) };
      return (await kept([label, metric ?? ''], () => labelValues(api, label, asked))) ?? [];
    };
    return {
      metricNames: () => valuesOf('__name__'),
      labelValues: valuesOf,
      async labelNames(metric) {
        const { match } = matchOf(metric);
        const query = {
          ...toRange(latest.current),
          ...(match !== undefined && { 'match[]': [match] }),
        };
        const names = await kept(['names', metric ?? ''], () =>
          dataOf(api.GET(`${base}/labels`, { params: { query } })),
        );
        return names?.data ?? [];
      },
      async metricMetadata() {
        const all = await kept(['metadata'], () =>
          dataOf(api.GET(`${base}/metadata`, { params: { query: {} } })),
        );
        return all?.data ?? {};
      },
      series: () => Promise.resolve([]),
      flags: () => Promise.resolve({}),
    };
  }, [api, client]);
}
