/** The questions of PromQL, from one series to all, at one time and over a range. */
import type { CorpusSeries } from '../metric-corpus.ts';

/** Times in Unix seconds; equal with a step of 0 at one time. */
export interface PromqlQuestion {
  readonly query: string;
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

export interface PromqlQuestionKind {
  readonly name: string;
  /** @param round determines the values: another one hits no cache of answers */
  readonly of: (round: number) => PromqlQuestion;
}

/** The samples that were loaded, in Unix ms. */
export interface LoadedSamples {
  readonly series: readonly CorpusSeries[];
  readonly startMs: number;
  readonly endMs: number;
}

export function listPromqlQuestions(loaded: LoadedSamples): PromqlQuestionKind[] {
  const lengthSeconds = Math.floor((loaded.endMs - loaded.startMs) / 1000);
  // Of each length a third is for the ranges before the first step.
  const long = Math.floor((lengthSeconds * 2) / 3);
  const short = Math.floor(lengthSeconds / 6);
  const pick = picker(loaded.series);
  const endOf = (round: number) => Math.floor(loaded.endMs / 1000) - 240 + round * 7;
  const instant = (name: string, query: (round: number) => string): PromqlQuestionKind => ({
    name: `at one time: ${name}`,
    of: (round) => ({ query: query(round), start: endOf(round), end: endOf(round), step: 0 }),
  });
  const range = (
    name: string,
    { seconds, step }: { seconds: number; step: number },
    query: (round: number) => string,
  ): PromqlQuestionKind => ({
    name: `${minutes(seconds)} every ${step} s: ${name}`,
    of: (round) => ({
      query: query(round),
      start: endOf(round) - seconds,
      end: endOf(round),
      step,
    }),
  });
  return [
    instant('value of one series', pick.one),
    instant('rate of one series', (round) => `rate(${pick.one(round)}[5m])`),
    instant('rates of a metric of one target', (round) => `rate(${pick.pod(round)}[5m])`),
    instant(
      'sum of rates of a service',
      (round) => `sum by (handler) (rate(${pick.service(round)}[5m]))`,
    ),
    instant('sum of rates of a metric', () => 'sum by (namespace) (rate(http_requests_total[5m]))'),
    instant(
      'rates selected by a pattern',
      () => 'sum by (pod) (rate(grpc_server_handled_total{handler=~"/api/.*"}[5m]))',
    ),
    instant('top 10 of a metric', () => 'topk(10, rate(cache_operations_total[5m]))'),
    instant('quantile of a gauge', () => 'quantile by (namespace) (0.99, connection_pool_open)'),
    instant(
      'highest of half an hour',
      () => 'max by (pod) (max_over_time(process_cpu_utilisation_ratio[30m]))',
    ),
    instant('count of all series', () => 'count by (__name__) ({job="kubernetes-pods"})'),
    range('values of one series', { seconds: short, step: 15 }, pick.one),
    range('rate of one series', { seconds: short, step: 15 }, (round) => {
      return `rate(${pick.one(round)}[5m])`;
    }),
    range('rate of one series', { seconds: long, step: 60 }, (round) => {
      return `rate(${pick.one(round)}[5m])`;
    }),
    range('rates of a metric of one target', { seconds: long, step: 60 }, (round) => {
      return `rate(${pick.pod(round)}[5m])`;
    }),
    range('sum of rates of a service', { seconds: short, step: 15 }, (round) => {
      return `sum by (handler) (rate(${pick.service(round)}[5m]))`;
    }),
    range(
      'quantile over time of a service',
      { seconds: long, step: 120 },
      (round) => `max by (pod) (quantile_over_time(0.9, ${pick.gauge(round)}[10m]))`,
    ),
    range('average over time of a gauge', { seconds: long, step: 60 }, () => {
      return 'avg by (pod) (avg_over_time(http_requests_in_flight[10m]))';
    }),
    range('ratio of two metrics', { seconds: short, step: 30 }, () => {
      const sum = (metric: string) => `sum by (namespace) (rate(${metric}[5m]))`;
      return `${sum('cache_operations_total')} / ${sum('http_requests_total')}`;
    }),
    range('top 5 of targets', { seconds: long, step: 60 }, () => {
      return 'topk(5, sum by (pod) (rate(http_requests_total[5m])))';
    }),
    range('sum of all series', { seconds: short, step: 60 }, () => {
      return 'sum by (__name__, namespace) (last_over_time({job="kubernetes-pods"}[2m]))';
    }),
  ];
}

/** Selectors of the round's series, target and service. */
function picker(series: readonly CorpusSeries[]) {
  const counters = series.filter(({ kind }) => kind === 'counter');
  const labelsOf = (round: number) => {
    const { labels } = counters[(round * 997 + 13) % counters.length]!;
    return Object.fromEntries(labels) as Record<string, string>;
  };
  const some = (round: number, names: readonly string[]) => {
    const labels = labelsOf(round);
    return names.map((name) => `${name}=${JSON.stringify(labels[name])}`).join(',');
  };
  return {
    one: (round: number) => {
      return `{${some(round, ['__name__', 'pod', 'handler', 'shard'])}}`;
    },
    pod: (round: number) => `{${some(round, ['__name__', 'pod'])}}`,
    service: (round: number) => `http_requests_total{${some(round, ['namespace'])}}`,
    gauge: (round: number) => `queue_messages_waiting{${some(round, ['namespace'])}}`,
  };
}

function minutes(seconds: number): string {
  return `${Math.round(seconds / 60)} min`;
}
