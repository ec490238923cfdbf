/** Reads of the metrics page, by Prometheus' API. */
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type Api, dataOf } from '../api/client.ts';
import { useApp } from '../app/context.ts';
import { printSelector } from './build/built-query.ts';
import { type MetricFamily, toFamilies } from './browse/metric-families.ts';
import { type AnsweredSeries, type Grid, type Labels } from './chart/plotted-series.ts';
import type { Bounds } from './metric-query.ts';

const base = '/api/v1/prometheus/api/v1';
/** Of one query; more are refused by no limit, but not readable either. */
export const maxSeries = 500;

export interface QueryAnswer {
  readonly grid: Grid;
  readonly series: readonly AnsweredSeries[];
  /** Warnings and infos of the evaluation. */
  readonly notes: readonly string[];
}

/**
 * One answer per query, in their order; empty queries are not asked. The answer over an earlier
 * range remains until that over the new one is there. @param asOfMs a later one reads again
 */
export function useRangeQueries(queries: readonly string[], grid: Grid, asOfMs: number) {
  const { api } = useApp();
  // `useQueries` forgets the data of the key before.
  const earlier = useRef<ReadonlyMap<string, QueryAnswer>>(new Map());
  const answers = useQueries({
    queries: queries.map((query) => ({
      queryKey: ['range query', query, grid],
      enabled: query.trim() !== '',
      placeholderData: earlier.current.get(query),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
      retry: false,
      queryFn: ({ signal }: { signal: AbortSignal }) => queryRange(api, { query, grid, signal }),
    })),
  });
  useEffect(() => {
    earlier.current = new Map(
      answers.flatMap(({ data }, at) => (data ? [[queries[at]!, data] as const] : [])),
    );
  });
  const readAsOfMs = useRef(asOfMs);
  useEffect(() => {
    if (readAsOfMs.current === asOfMs) return;
    readAsOfMs.current = asOfMs;
    // Within a step the grid, and with it the key, is the same.
    for (const { isEnabled, refetch } of answers) {
      if (isEnabled) void refetch({ cancelRefetch: false });
    }
  });
  return answers;
}

async function queryRange(
  api: Api,
  { query, grid, signal }: { query: string; grid: Grid; signal: AbortSignal },
): Promise<QueryAnswer> {
  const body = new URLSearchParams({
    query,
    start: String(grid.startMs / 1000),
    end: String(grid.endMs / 1000),
    step: String(grid.stepMs / 1000),
    limit: String(maxSeries),
  });
  // By POST, since a query may be longer than a URL.
  const response = await api.fetch(`${base}/query_range`, { method: 'POST', body, signal });
  const { data, warnings = [], infos = [] } = (await response.json()) as RangeAnswer;
  return { grid, series: data.result, notes: [...warnings, ...infos] };
}

interface RangeAnswer {
  readonly data: { readonly result: readonly AnsweredSeries[] };
  readonly warnings?: readonly string[];
  readonly infos?: readonly string[];
}

/** The metrics that have samples in this time, with what their senders tell of them. */
export function useFamilies(bounds: Bounds) {
  const { api } = useApp();
  return useQuery({
    // New names may appear up to a minute late.
    queryKey: ['metric families', Math.floor(bounds.fromMs / 60_000), lengthOf(bounds)],
    queryFn: async ({ signal }): Promise<readonly MetricFamily[]> => {
      const [names, metadata] = await Promise.all([
        labelValues(api, '__name__', { bounds, signal }),
        dataOf(api.GET(`${base}/metadata`, { params: { query: {} }, signal })),
      ]);
      return toFamilies(names, metadata.data);
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}

/** Names of the labels that series of this metric have. */
export function useLabelNames(metric: string, bounds: Bounds) {
  const { api } = useApp();
  return useQuery({
    queryKey: ['metric labels', metric, Math.floor(bounds.fromMs / 60_000), lengthOf(bounds)],
    enabled: metric !== '',
    queryFn: async ({ signal }) => {
      const query = { 'match[]': [printSelector({ metric, filters: [] })], ...toRange(bounds) };
      const { data } = await dataOf(api.GET(`${base}/labels`, { params: { query }, signal }));
      return data.filter((name) => name !== '__name__');
    },
    staleTime: 60_000,
  });
}

/** @param label empty = none */
export function useLabelValues(metric: string, label: string, bounds: Bounds) {
  const { api } = useApp();
  return useQuery({
    queryKey: ['metric values', metric, label, Math.floor(bounds.fromMs / 60_000)],
    enabled: metric !== '' && label !== '',
    queryFn: ({ signal }) => {
      const match = printSelector({ metric, filters: [] });
      return labelValues(api, label, { bounds, signal, match });
    },
    staleTime: 60_000,
  });
}

/** Label sets of the series that match any of these selectors, cut at `limit`. */
export function useSeries(selectors: readonly string[], bounds: Bounds, limit: number) {
  const { api } = useApp();
  return useQuery({
    queryKey: ['series', selectors, Math.floor(bounds.fromMs / 60_000), lengthOf(bounds)],
    enabled: selectors.length > 0,
    queryFn: async ({ signal }): Promise<readonly Labels[]> => {
      const query = { 'match[]': [...selectors], ...toRange(bounds), limit };
      const { data } = await dataOf(api.GET(`${base}/series`, { params: { query }, signal }));
      return data;
    },
    staleTime: 60_000,
  });
}

export async function labelValues(
  api: Api,
  name: string,
  asked: { bounds: Bounds; signal?: AbortSignal; match?: string },
): Promise<string[]> {
  const { bounds, signal, match } = asked;
  const query = { ...toRange(bounds), ...(match !== undefined && { 'match[]': [match] }) };
  const params = { path: { name: escapeName(name) }, query };
  const call = api.GET(`${base}/label/{name}/values`, { params, ...(signal && { signal }) });
  return (await dataOf(call)).data;
}

/** A name that is no plain word is escaped, as Prometheus 3 does it in paths. */
function escapeName(name: string): string {
  if (/^[a-z_]\w*$/i.test(name)) return name;
  const escaped = Array.from(name, (letter) => {
    if (letter === '_') return '__';
    return /\w/.test(letter) ? letter : `_${letter.codePointAt(0)!.toString(16)}_`;
  });
  return `U__${escaped.join('')}`;
}

function lengthOf({ fromMs, untilMs }: Bounds): number {
  return untilMs - fromMs;
}

/** Unix seconds, as in Prometheus' API. */
export function toRange({ fromMs, untilMs }: Bounds): { start: string; end: string } {
  return { start: String(fromMs / 1000), end: String(untilMs / 1000) };
}
