/**
 * Answers of PromQL queries in Prometheus' JSON, where values are texts: schemas for the OpenAPI
 * document and the functions that build them. Pure.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats
 */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { TextWriter } from '../codec/text-writer.ts';
import type { Label } from '../model/metric-plan.ts';
import { histogramJson } from '../promql/histogram/histogram-text.ts';
import type { Histogram } from '../promql/histogram/histogram.ts';
import type { Labels } from '../promql/labels.ts';
import { formatSample } from '../promql/parser/numbers.ts';
import type { QueryAnswer, QueryResult, ResultSeries } from '../promql/query.ts';
import type { QueryTimes } from '../promql/evaluation.ts';
import { createTextMemo } from '../std/text-memo.ts';
import { cutWarning } from './responses.ts';

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

/** JSON, at once if it is short, else in pieces, between which other requests run. */
export function encodeQueryResponse(
  answer: QueryAnswer,
  times: QueryTimes,
  wanted: Wanted,
): Uint8Array | Promise<Uint8Array> {
  const { result, isCut } = cut(answer.result, wanted.limit);
  const warnings = [...fewOf(answer.warnings, 'warning'), ...(isCut ? [cutWarning] : [])];
  const infos = fewOf(answer.infos, 'info');
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
  const timeTexts = new TimeTexts(times);
  const frame = { head, tail: tail.join('') };
  const cells = result.series.reduce((sum, { size }) => sum + size, 0);
  return cells > fewCells
    ? encodeSeries(result, timeTexts, frame)
    : encodeFew(result, timeTexts, frame);
}

/** As many as Prometheus answers: a query of all metrics may have one for each. */
const maxNotes = 10;

function fewOf(texts: readonly string[], kind: 'warning' | 'info'): readonly string[] {
  const omitted = texts.length - maxNotes;
  if (omitted <= 0) return texts;
  return [...texts.slice(0, maxNotes), `${omitted} more ${kind} annotations omitted`];
}

type SeriesResult = Extract<QueryResult, { type: 'vector' | 'matrix' }>;

const turnMs = 10;
/** Between two looks at the clock. */
const pieceBytes = 65_536;
/** Of one series. */
const pieceCells = 5_000;

/** What precedes the series, and what follows them. */
interface Frame {
  readonly head: string;
  readonly tail: string;
}

/** Written within a fraction of a turn. */
const fewCells = 200;

/** As one text, whose bytes fit in memory that is shared with others. */
function encodeFew({ type, series: all }: SeriesResult, times: TimeTexts, frame: Frame): Buffer {
  let text = `${frame.head}[`;
  for (let i = 0; i < all.length; i++) {
    if (i > 0) text += ',';
    text += type === 'vector' ? instantText(all[i]!) : textOf(rangeTexts(all[i]!, times));
  }
  return Buffer.from(`${text}]${frame.tail}`);
}

function textOf(pieces: Iterable<string>): string {
  let text = '';
  for (const piece of pieces) text += piece;
  return text;
}

async function encodeSeries(
  { type, series: all }: SeriesResult,
  timeTexts: TimeTexts,
  { head, tail }: Frame,
): Promise<Uint8Array> {
  const out = new TextWriter(expectedBytes(type, all.length, timeTexts.steps));
  out.write(`${head}[`);
  let turnEnd = performance.now() + turnMs;
  let pieceEnd = pieceBytes;
  for (let i = 0; i < all.length; i++) {
    if (i > 0) out.write(',');
    const pieces = type === 'vector' ? [instantText(all[i]!)] : rangeTexts(all[i]!, timeTexts);
    for (const piece of pieces) {
      out.write(piece);
      if (out.length < pieceEnd) continue;
      pieceEnd = out.length + pieceBytes;
      if (performance.now() < turnEnd) continue;
      await setImmediate();
      turnEnd = performance.now() + turnMs;
    }
  }
  out.write(`]${tail}`);
  return out.finish();
}

/** Labels, times and values of average length; a wrong guess costs a copy. */
function expectedBytes(type: SeriesResult['type'], series: number, steps: number): number {
  const perSeries = 350 + (type === 'vector' ? 1 : steps) * 36;
  return 256 + Math.min(series * perSeries, mostExpectedBytes);
}

const mostExpectedBytes = 2 ** 20;

function cut(result: QueryResult, limit: number): { result: QueryResult; isCut: boolean } {
  if (result.type === 'scalar' || result.type === 'string') return { result, isCut: false };
  if (limit === 0 || result.series.length <= limit) return { result, isCut: false };
  return { result: { ...result, series: result.series.slice(0, limit) }, isCut: true };
}

/** What precedes the values of the steps, which all series have in common. */
class TimeTexts {
  readonly steps: number;
  readonly #times: QueryTimes;
  readonly #ofSteps: string[] = [];

  constructor(times: QueryTimes) {
    const { startMs, endMs, stepMs } = times;
    this.#times = times;
    this.steps = stepMs === 0 ? 1 : Math.floor((endMs - startMs) / stepMs) + 1;
  }

  /** The end of the value before, and the time up to the value. */
  next(timeMs: number): string {
    const { startMs, stepMs } = this.#times;
    const step = timeMs === startMs ? 0 : (timeMs - startMs) / stepMs;
    // The samples of a range selector are at no steps.
    if (!Number.isInteger(step)) return `"],${startText(timeMs)}`;
    return (this.#ofSteps[step] ??= `"],${startText(timeMs)}`);
  }
}

function startText(timeMs: number): string {
  return `[${timeMs / 1000},"`;
}

function instantText({ labels, points }: ResultSeries): string {
  const { timeMs, value } = points[0]!;
  const metric = `{"metric":{${labelsText(labels)}}`;
  return typeof value === 'number'
    ? `${metric},"value":${startText(timeMs)}${formatSample(value)}"]}`
    : `${metric},"histogram":${histogramText(timeMs, value)}}`;
}

/** In pieces, of which all but very long series have one. */
function* rangeTexts(series: ResultSeries, times: TimeTexts): Generator<string> {
  const histograms: string[] = [];
  let text = `{"metric":{${labelsText(series.labels)}}`;
  let hasValues = false;
  const visit = (timeMs: number, value: number | Histogram) => {
    if (typeof value === 'object') {
      histograms.push(histogramText(timeMs, value));
      return;
    }
    text +=
      (hasValues ? times.next(timeMs) : `,"values":[${startText(timeMs)}`) + formatSample(value);
    hasValues = true;
  };
  for (let from = 0; from < series.size; from += pieceCells) {
    if (from > 0) {
      yield text;
      text = '';
    }
    series.eachPoint(visit, from, from + pieceCells);
  }
  if (hasValues) text += '"]]';
  else if (histograms.length === 0) text += ',"values":[]';
  if (histograms.length > 0) text += `,"histograms":[${histograms.join()}]`;
  yield `${text}}`;
}

function labelsText(labels: Labels): string {
  let text = '';
  for (let i = 0; i < labels.length; i++) text += (i === 0 ? '' : ',') + labelText(labels[i]!);
  return text;
}

/** Stored series share the labels that they have in common. */
const labelText = createTextMemo(
  ([name, value]: Label) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  8_000_000,
);

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
