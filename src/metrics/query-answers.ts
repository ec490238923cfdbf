/**
 * Answers of PromQL queries in Prometheus' JSON, where values are texts: schemas for the OpenAPI
 * document and the functions that build them. Pure.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats
 */
import { z } from 'zod';
import { type HistogramJson, histogramJson } from '../promql/histogram/histogram-text.ts';

import { formatSample } from '../promql/parser/numbers.ts';
import type { QueryAnswer, QueryResult, ResultSeries } from '../promql/query.ts';
import type { QueryTimes } from '../promql/evaluation.ts';
import { toLabelSet } from './answers.ts';

const notes = z.array(z.string()).optional();
const sample = z.tuple([z.number(), z.string()]).meta({ description: 'Unix seconds and value.' });

const queryStatistics = z.object({
  timings: z.record(z.string(), z.number()),
  samples: z.object({
    totalQueryableSamples: z.number(),
    peakSamples: z.number(),
    totalQueryableSamplesPerStep: z.array(z.tuple([z.number(), z.number()])).optional(),
  }),
});

export const queryResponse = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.enum(['scalar', 'string', 'vector', 'matrix']),
    result: z.union([sample, z.array(z.record(z.string(), z.unknown()))]),
    stats: queryStatistics.optional(),
  }),
  warnings: notes,
  infos: notes,
});

/** Details that clients ask for. */
export interface Wanted {
  /** Most series; 0 = all. */
  readonly limit: number;
  readonly stats: string;
  readonly seconds: number;
}

const cutWarning = 'results truncated due to limit';

export function toQueryAnswer(answer: QueryAnswer, times: QueryTimes, wanted: Wanted) {
  const { result, isCut } = cut(answer.result, wanted.limit);
  const warnings = [...answer.warnings, ...(isCut ? [cutWarning] : [])];
  const { infos } = answer;
  return {
    status: 'success' as const,
    data: {
      resultType: result.type,
      result: resultJson(result),
      ...(wanted.stats !== '' && { stats: statsJson(answer, times, wanted) }),
    },
    ...(warnings.length > 0 && { warnings }),
    ...(infos.length > 0 && { infos }),
  };
}

function cut(result: QueryResult, limit: number): { result: QueryResult; isCut: boolean } {
  if (result.type === 'scalar' || result.type === 'string') return { result, isCut: false };
  if (limit === 0 || result.series.length <= limit) return { result, isCut: false };
  return { result: { ...result, series: result.series.slice(0, limit) }, isCut: true };
}

function resultJson(result: QueryResult): unknown {
  switch (result.type) {
    case 'string':
      return [result.timeMs / 1000, result.value];
    case 'scalar':
      return floatJson(result.point.timeMs, result.point.value);
    case 'vector':
      return result.series.map(instantJson);
    case 'matrix':
      return result.series.map(seriesJson);
  }
}

function instantJson({ labels, points }: ResultSeries) {
  const { timeMs, value } = points[0]!;
  const metric = toLabelSet(labels);
  return typeof value === 'number'
    ? { metric, value: floatJson(timeMs, value) }
    : { metric, histogram: [timeMs / 1000, histogramJson(value)] };
}

function seriesJson({ labels, points }: ResultSeries) {
  const values: [number, string][] = [];
  const histograms: [number, HistogramJson][] = [];
  for (const { timeMs, value } of points) {
    if (typeof value === 'number') values.push(floatJson(timeMs, value));
    else histograms.push([timeMs / 1000, histogramJson(value)]);
  }
  return {
    metric: toLabelSet(labels),
    ...((values.length > 0 || histograms.length === 0) && { values }),
    ...(histograms.length > 0 && { histograms }),
  };
}

function floatJson(timeMs: number, value: number): [number, string] {
  return [timeMs / 1000, formatSample(value)];
}

function statsJson(
  { samplesPerStep, peakSamples }: QueryAnswer,
  { startMs, stepMs }: QueryTimes,
  { stats, seconds }: Wanted,
): z.output<typeof queryStatistics> {
  const perStep = [...samplesPerStep];
  return {
    timings: {
      evalTotalTime: seconds,
      resultSortTime: 0,
      queryPreparationTime: 0,
      innerEvalTime: seconds,
      execQueueTime: 0,
      execTotalTime: seconds,
    },
    samples: {
      totalQueryableSamples: perStep.reduce((sum, count) => sum + count, 0),
      peakSamples,
      ...(stats === 'all' && {
        totalQueryableSamplesPerStep: perStep.map((count, step): [number, number] => [
          (startMs + step * stepMs) / 1000,
          count,
        ]),
      }),
    },
  };
}
