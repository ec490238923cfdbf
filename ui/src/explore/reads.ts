/** Queries besides the logs: histogram, facets, stream names, newest log. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { isLabelField } from '../../../src/model/log-fields.ts';
import { dataOf } from '../api/client.ts';
import type { Facet, Histogram, Log, LogPage } from '../api/models.ts';
import { ApiProblem } from '../api/problem.ts';
import { useApp, useScope } from '../app/context.ts';
import type { TextFault } from '../parts/editor/text-fault.ts';
import type { FieldName } from './log/log-fields.ts';
import type { ApiFilters } from './query.ts';
import type { Run } from './use-run.ts';

/** Results of a run never change, and a run rarely returns. */
const ofOneRun = { staleTime: Number.POSITIVE_INFINITY, gcTime: 30_000 };

/** @param groupBy name of a field, or `label.<key>` */
export function useHistogram({ id, rereads, bounds, buckets, filters }: Run, groupBy: string) {
  const { api } = useApp();
  const isAllowed = useScope('analytics:read');
  const { sinceTime, untilTime } = bounds;
  const query = {
    ...filters,
    startTime: sinceTime,
    endTime: untilTime,
    buckets,
    groupBy,
    // So that many words of a sender's own do not hide rare errors.
    ...(groupBy === 'severity' && { topK: 100 }),
  };
  return useQuery({
    queryKey: ['histogram', id, rereads, query],
    queryFn: ({ signal }): Promise<Histogram> =>
      dataOf(api.GET('/api/v1/histogram', { params: { query }, signal })),
    enabled: isAllowed,
    placeholderData: keepPreviousData,
    ...ofOneRun,
  });
}

export function useFacets(
  { id, rereads, bounds, filters }: Run,
  fields: string,
  isWanted: boolean,
) {
  const { api } = useApp();
  const isAllowed = useScope('analytics:read');
  const query = { ...filters, ...bounds, fields, topK: 10 };
  return useQuery({
    queryKey: ['facets', id, rereads, query],
    queryFn: async ({ signal }): Promise<readonly Facet[]> => {
      const call = api.GET('/api/v1/facets/batch', { params: { query }, signal });
      return (await dataOf(call)).facets;
    },
    enabled: isAllowed && isWanted && fields !== '',
    placeholderData: keepPreviousData,
    ...ofOneRun,
  });
}

/** The labels that the newest logs of the range have most often. */
export function useLabelNames({ bounds }: Run, isWanted: boolean): readonly FieldName[] {
  const { api } = useApp();
  const isAllowed = useScope('analytics:read');
  const query = { ...bounds, limit: 50 };
  const { data = [] } = useQuery({
    queryKey: ['label-names', query],
    queryFn: async ({ signal }) => {
      const { fields } = await dataOf(api.GET('/api/v1/fields', { params: { query }, signal }));
      return fields.map(({ name }) => name).filter(isLabelField);
    },
    enabled: isAllowed && isWanted,
    placeholderData: keepPreviousData,
    ...ofOneRun,
  });
  return data;
}

/** @param topK 0 = no request; 100 = the maximum of the service */
export function useValues(
  { id, rereads, bounds, filters }: Run,
  field: Facet['field'],
  topK: number,
) {
  const { api } = useApp();
  const query = { ...filters, ...bounds, field, topK };
  return useQuery({
    queryKey: ['facet', id, rereads, query],
    queryFn: ({ signal }): Promise<Facet> =>
      dataOf(api.GET('/api/v1/facets', { params: { query }, signal })),
    enabled: topK > 0,
    placeholderData: keepPreviousData,
    ...ofOneRun,
  });
}

/** The newest log of all time that matches these filters; null = none. */
export function useNewestLog(filters: ApiFilters, pollMs: number | undefined) {
  const { api } = useApp();
  const query = { ...filters, limit: 1 };
  return useQuery({
    queryKey: ['newest', query],
    queryFn: async ({ signal }): Promise<Log | null> => {
      const call = api.GET('/api/v1/logs', { params: { query }, signal });
      const { logs } = (await dataOf(call)) as LogPage;
      return logs[0] ?? null;
    },
    refetchInterval: ({ state }) => (state.data === null && pollMs !== undefined ? pollMs : false),
    gcTime: 0,
    staleTime: 0,
  });
}

/** Stream names by id; empty while loading. */
export function useStreamNames(): ReadonlyMap<string, string> {
  const { api } = useApp();
  const { data } = useQuery({
    queryKey: ['stream-names'],
    queryFn: async ({ signal }) => {
      const { streams } = await dataOf(api.GET('/api/v1/admin/streams', { signal }));
      return new Map(streams.map(({ streamId, name }) => [streamId, name]));
    },
    staleTime: 60_000,
  });
  return data ?? noNames;
}

const noNames: ReadonlyMap<string, string> = new Map();

/** Why the service cannot read the query; undefined for any other error. */
export function refusalOf(error: unknown): TextFault | undefined {
  if (!(error instanceof ApiProblem) || error.parameter !== 'query') return undefined;
  const [, position = '1', message = error.message] =
    /^cannot read query at position (\d+): (.*)$/s.exec(error.message) ?? [];
  return { position: Number(position) - 1, message };
}
