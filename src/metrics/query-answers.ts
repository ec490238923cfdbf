/**
 * Answers of PromQL queries in Prometheus' JSON, where values are texts: schemas for the OpenAPI
 * document and the functions that build them. Pure.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats
 */
import { setImmediate } from 'node:timers/promises';
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

/** JSON, written series by series, between which other requests run. */
export async function encodeQueryAnswer(
  answer: QueryAnswer,
  times: QueryTimes,
  wanted: Wanted,
): Promise<Uint8Array> {
  const { result, isCut } = cut(answer.result, wanted.limit);
  const warnings = [...answer.warnings, ...(isCut ? [cutWarning] : [])];
  const { infos } = answer;
  const head = `{"status":"success","data":{"resultType":"${result.type}","result":`;
  const stats =
    wanted.stats === '' ? '' : `,"stats":${JSON.stringify(statsJson(answer, times, wanted))}`;
  const tail = [
    `${stats}}`,
    ...(warnings.length > 0 ? [`,"warnings":${JSON.stringify(warnings)}`] : []),
    ...(infos.length > 0 ? [`,"infos":${JSON.stringify(infos)}`] : []),
    '}',
  ];
  return Buffer.concat([Buffer.from(head), await encodeResult(result), Buffer.from(tail.join(''))]);
}

const turnMs = 10;

async function encodeResult(result: QueryResult): Promise<Uint8Array> {
  if (result.type === 'scalar' || result.type === 'string') {
    return Buffer.from(JSON.stringify(pointJson(result)));
  }
  const toJson = result.type === 'vector' ? instantJson : seriesJson;
  const pieces: Uint8Array[] = [];
  let turnEnd = performance.now() + turnMs;
  for (const [i, series] of result.series.entries()) {
    pieces.push(Buffer.from((i === 0 ? '[' : ',') + JSON.stringify(toJson(series))));
    if (performance.now() < turnEnd) continue;
    await setImmediate();
    turnEnd = performance.now() + turnMs;
  }
  pieces.push(Buffer.from(result.series.length === 0 ? '[]' : ']'));
  return Buffer.concat(pieces);
}

function cut(result: QueryResult, limit: number): { result: QueryResult; isCut: boolean } {
  if (result.type === 'scalar' || result.type === 'string') return { result, isCut: false };
  if (limit === 0 || result.series.length <= limit) return { result, isCut: false };
  return { result: { ...result, series: result.series.slice(0, limit) }, isCut: true };
}

function pointJson(result: Extract<QueryResult, { type: 'scalar' | 'string' }>) {
  return result.type === 'scalar'
    ? floatJson(result.point.timeMs, result.point.value)
    : [result.timeMs / 1000, result.value];
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
