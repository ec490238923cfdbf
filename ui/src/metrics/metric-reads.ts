/** Queries of the metrics page. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type Api, dataOf } from '../api/client.ts';
import { useApp } from '../app/context.ts';
import type { Bounds, LabelFilter } from './metric-query.ts';
import {
  decodeReadResponse,
  encodeReadRequest,
  type Labels,
  type SampledSeries,
} from './remote-read.ts';

/** Maximum of listed series. */
export const maxListedSeries = 500;

const base = '/api/v1/prometheus/api/v1';

export function useMetricNames(bounds: Bounds) {
  const { api } = useApp();
  return useQuery({
    // New names may appear up to a minute late.
    queryKey: ['metric names', Math.floor(bounds.fromMs / 60_000), bounds.untilMs - bounds.fromMs],
    queryFn: ({ signal }) => labelValues(api, { name: '__name__', bounds, signal }),
    staleTime: 60_000,
  });
}

export function useMetricType(metric: string) {
  const { api } = useApp();
  return useQuery({
    queryKey: ['metric metadata', metric],
    enabled: metric !== '',
    queryFn: async ({ signal }) => {
      const answer = await dataOf(
        api.GET(`${base}/metadata`, { params: { query: { metric } }, signal }),
      );
      return answer.data[metric]?.[0] ?? null;
    },
  });
}

/** Matching label sets. */
export function useSeries(metric: string, labels: readonly LabelFilter[], bounds: Bounds) {
  const { api } = useApp();
  return useQuery({
    queryKey: ['series', metric, labels, bounds],
    enabled: metric !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly Labels[]> => {
      const query = {
        'match[]': [toSelector(metric, labels)],
        ...toRange(bounds),
        limit: maxListedSeries + 1,
      };
      const answer = await dataOf(api.GET(`${base}/series`, { params: { query }, signal }));
      return answer.data;
    },
  });
}

/** Samples of exactly these series, in this order. */
export function useSamples(series: readonly Labels[], bounds: Bounds) {
  const { api } = useApp();
  return useQuery({
    queryKey: ['samples', series, bounds],
    enabled: series.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly SampledSeries[]> => {
      const body = encodeReadRequest(series.map((labels) => ({ labels, ...bounds })));
      const response = await api.fetch(`${base}/read`, {
        method: 'POST',
        body,
        signal,
        headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
      });
      const results = decodeReadResponse(new Uint8Array(await response.arrayBuffer()));
      // The same labels also match series with additional labels.
      return series.map((labels, index) => {
        const size = Object.keys(labels).length;
        const own = results[index]?.find((one) => Object.keys(one.labels).length === size);
        return own ?? { labels, times: [], values: [] };
      });
    },
  });
}

async function labelValues(
  api: Api,
  asked: { name: string; bounds: Bounds; signal: AbortSignal },
): Promise<readonly string[]> {
  const { name, bounds, signal } = asked;
  const answer = await dataOf(
    api.GET(`${base}/label/{name}/values`, {
      params: { path: { name }, query: toRange(bounds) },
      signal,
    }),
  );
  return answer.data;
}

/** Unix seconds, as in Prometheus' API. */
function toRange({ fromMs, untilMs }: Bounds): { start: string; end: string } {
  return { start: String(fromMs / 1000), end: String(untilMs / 1000) };
}

function toSelector(metric: string, labels: readonly LabelFilter[]): string {
  const all = [{ name: '__name__', value: metric }, ...labels];
  return `{${all.map(({ name, value }) => `${quote(name)}=${quote(value)}`).join(',')}}`;
}

/** Names are quoted too: since Prometheus 3 they may contain any character. */
function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
