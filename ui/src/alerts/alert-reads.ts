/** Reads of rules, alerts and their history, and their changes. */
import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../api/client.ts';
import { useApp, useScope } from '../app/context.ts';
import { useStreams } from '../manage/control.ts';
import { roundSteps } from '../../../src/model/round-steps.ts';
import { type AlertHistory, toHistories, toHistoryRead } from './alert-spans.ts';

const base = '/api/v1/prometheus/api/v1';
/** Rules are evaluated every minute by default. */
const pollMs = 15_000;

export function useRules() {
  const { api } = useApp();
  return useQuery({
    queryKey: ['control', 'rules'],
    queryFn: async ({ signal }) => {
      const { data } = await dataOf(api.GET(`${base}/rules`, { params: { query: {} }, signal }));
      return data.groups;
    },
    refetchInterval: pollMs,
  });
}

export type RuleGroup = NonNullable<ReturnType<typeof useRules>['data']>[number];
export type Rule = RuleGroup['rules'][number];

export function useAlerts() {
  const { api } = useApp();
  return useQuery({
    queryKey: ['control', 'alerts'],
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET(`${base}/alerts`, { signal }))).data.alerts,
    refetchInterval: pollMs,
  });
}

export function useNotifiers() {
  const { api } = useApp();
  return useQuery({
    queryKey: ['control', 'notifiers'],
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET('/api/v1/admin/notifiers', { signal }))).notifiers,
  });
}

export type Notifier = NonNullable<ReturnType<typeof useNotifiers>['data']>[number];

/** Names of streams by id. */
export function useStreamNames(): ReadonlyMap<string, string> {
  return new Map(useStreams().data?.map(({ streamId, name }) => [streamId, name]));
}

export function useCanEdit(): boolean {
  return useScope('admin');
}

/** A bar of the history is not narrower. */
const maxSteps = 500;
/** More rows are not readable. */
export const maxHistories = 200;

export interface HistoryRange {
  /** Unix ms. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** From the series that each evaluation records. @param alertname empty = all alerts */
export function useHistory(alertname: string, { fromMs, untilMs }: HistoryRange) {
  const { api } = useApp();
  const stepMs = roundSteps.find((step) => step >= 1000 && (untilMs - fromMs) / step <= maxSteps)!;
  const selector = alertname === '' ? 'ALERTS' : `ALERTS{alertname=${JSON.stringify(alertname)}}`;
  const rules = useRules();
  const { query, lookbackSeconds, tellsOf } = toHistoryRead(selector, rules.data ?? [], stepMs);
  return useQuery({
    queryKey: ['alert history', alertname, untilMs - fromMs, untilMs, query, lookbackSeconds],
    enabled: !rules.isPending,
    // Remains during a refresh: those of another alert or range would be taken for these.
    placeholderData: (before: readonly AlertHistory[] | undefined, of) =>
      of?.queryKey[1] === alertname && of.queryKey[2] === untilMs - fromMs ? before : undefined,
    queryFn: async ({ signal }): Promise<readonly AlertHistory[]> => {
      const body = new URLSearchParams({
        query,
        // The last step is the end: an alert that has just begun is there.
        start: String((untilMs - Math.floor((untilMs - fromMs) / stepMs) * stepMs) / 1000),
        end: String(untilMs / 1000),
        step: String(stepMs / 1000),
        limit: String(2 * maxHistories),
        ...(lookbackSeconds !== undefined && { lookback_delta: String(lookbackSeconds) }),
      });
      const response = await api.fetch(`${base}/query_range`, { method: 'POST', body, signal });
      const { data } = (await response.json()) as {
        data: { result: Parameters<typeof toHistories>[0] };
      };
      return toHistories(data.result, stepMs, tellsOf).slice(0, maxHistories);
    },
  });
}
