/** Patterns, comparisons and statistics of the matching logs. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { joinNames } from '../../../../src/model/log-fields.ts';
import { dataOf } from '../../api/client.ts';
import type { Stats } from '../../api/models.ts';
import { useApp } from '../../app/context.ts';
import type { Baseline } from '../query.ts';
import type { Run } from '../use-run.ts';
import { baselineOf } from './baseline.ts';

const ofOneRun = {
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: 30_000,
  placeholderData: keepPreviousData,
};

export function usePatterns({ id, filters, bounds }: Run) {
  const { api } = useApp();
  const query = { ...filters, ...bounds };
  return useQuery({
    queryKey: ['patterns', id, query],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/patterns', { params: { query }, signal })),
    ...ofOneRun,
  });
}

export function useComparison({ id, filters, bounds }: Run, baseline: Baseline) {
  const { api } = useApp();
  const query = { ...filters, ...bounds, ...baselineOf(baseline, bounds, filters.query) };
  return useQuery({
    queryKey: ['compare', id, query],
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/compare', { params: { query }, signal })),
    ...ofOneRun,
  });
}

/** @param step absent = one value of the whole range */
export function useStats(
  { id, filters, bounds }: Run,
  { stat, by, exact }: { readonly stat: string; readonly by: string; readonly exact: boolean },
  step?: string,
) {
  const { api } = useApp();
  const { sinceTime: startTime, untilTime: endTime } = bounds;
  const query = {
    ...filters,
    startTime,
    endTime,
    stat: [stat],
    ...(by !== '' && { by: joinNames([by]) }),
    ...(exact && { exact: 'true' as const }),
    ...(step !== undefined && { step }),
  };
  return useQuery({
    queryKey: ['stats', id, query],
    queryFn: async ({ signal }): Promise<Pick<Stats, 'rows' | 'sampled'>> => {
      const answer = await dataOf(api.GET('/api/v1/stats', { params: { query }, signal }));
      return 'rows' in answer ? answer : { rows: [] };
    },
    ...ofOneRun,
  });
}
