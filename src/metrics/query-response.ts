/**
 * Answers of PromQL queries in Prometheus' JSON, where values are texts: schemas for the OpenAPI
 * document and the functions that build them. Pure.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats
 */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { histogramJson } from '../promql/histogram/histogram-text.ts';
import type { Histogram } from '../promql/histogram/histogram.ts';
import { formatSample } from '../promql/parser/numbers.ts';
import type { QueryAnswer, QueryResult, ResultSeries } from '../promql/query.ts';
import type { QueryTimes } from '../promql/evaluation.ts';
import { toLabelSet } from './responses.ts';

const notes = z.array(z.string()).optional();
const sample = z.tuple([z.number(), z.string()]).describe('Unix seconds and value.');

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
export async function encodeQueryResponse(
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
  if (result.type === 'scalar' || result.type === 'string') {
    return Buffer.from(head + JSON.stringify(pointJson(result)) + tail.join(''));
  }
  return encodeSeries(result, new TimeTexts(times), { head, tail: tail.join('') });
}

type SeriesResult = Extract<QueryResult, { type: 'vector' | 'matrix' }>;

const turnMs = 10;
/** Texts are joined up to this length: a buffer for each would cost more than its text. */
const pieceLength = 65_536;

async function encodeSeries(
  { type, series: all }: SeriesResult,
  timeTexts: TimeTexts,
  { head, tail }: { readonly head: string; readonly tail: string },
): Promise<Uint8Array> {
  const toText = type === 'vector' ? instantText : seriesText;
  const pieces: Uint8Array[] = [];
  let text = `${head}[`;
  let turnEnd = performance.now() + turnMs;
  for (const [i, series] of all.entries()) {
    text += `${i === 0 ? '' : ','}${toText(series, timeTexts)}`;
    if (text.length < pieceLength) continue;
    pieces.push(Buffer.from(text));
    text = '';
    if (performance.now() < turnEnd) continue;
    await setImmediate();
    turnEnd = performance.now() + turnMs;
  }
  const last = Buffer.from(`${text}]${tail}`);
  return pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
}

function cut(result: QueryResult, limit: number): { result: QueryResult; isCut: boolean } {
  if (result.type === 'scalar' || result.type === 'string') return { result, isCut: false };
  if (limit === 0 || result.series.length <= limit) return { result, isCut: false };
  return { result: { ...result, series: result.series.slice(0, limit) }, isCut: true };
}

/** Seconds of the steps as texts, which all series have in common. */
class TimeTexts {
  readonly #times: QueryTimes;
  readonly #ofSteps: string[] = [];

  constructor(times: QueryTimes) {
    this.#times = times;
  }

  of(timeMs: number): string {
    const { startMs, stepMs } = this.#times;
    const step = timeMs === startMs ? 0 : (timeMs - startMs) / stepMs;
    // The samples of a range selector are at no steps.
    if (!Number.isInteger(step)) return String(timeMs / 1000);
    return (this.#ofSteps[step] ??= String(timeMs / 1000));
  }
}

function instantText({ labels, points }: ResultSeries, timeTexts: TimeTexts): string {
  const { timeMs, value } = points[0]!;
  const metric = JSON.stringify(toLabelSet(labels));
  return typeof value === 'number'
    ? `{"metric":${metric},"value":[${timeTexts.of(timeMs)},"${formatSample(value)}"]}`
    : `{"metric":${metric},"histogram":${histogramText(timeMs, value)}}`;
}

function seriesText({ labels, points }: ResultSeries, timeTexts: TimeTexts): string {
  let values = '';
  let histograms = '';
  for (const { timeMs, value } of points) {
    if (typeof value === 'number') {
      values += `${values === '' ? '' : ','}[${timeTexts.of(timeMs)},"${formatSample(value)}"]`;
    } else {
      histograms += `${histograms === '' ? '' : ','}${histogramText(timeMs, value)}`;
    }
  }
  const metric = JSON.stringify(toLabelSet(labels));
  const floats = values !== '' || histograms === '' ? `,"values":[${values}]` : '';
  return `{"metric":${metric}${floats}${histograms && `,"histograms":[${histograms}]`}}`;
}

function histogramText(timeMs: number, histogram: Histogram): string {
  return JSON.stringify([timeMs / 1000, histogramJson(histogram)]);
}

function pointJson(result: Exclude<QueryResult, SeriesResult>) {
  const { type } = result;
  return type === 'scalar'
    ? [result.point.timeMs / 1000, formatSample(result.point.value)]
    : [result.timeMs / 1000, result.value];
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
