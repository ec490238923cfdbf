/**
 * Runs the reads of metrics within the limits of one read. Samples and exemplars take two steps:
 * find the series, then read what is stored of them. Plans are compiled in sql/.
 */
import type { Exemplar, SamplesPlan, SeriesSamples } from '../model/metric-plan.ts';
import type { QueryContext } from './connection.ts';
import { tooMany } from './failures.ts';
import type { Head } from './head/head.ts';
import type { Store } from './port.ts';
import {
  type ReaderParts,
  type ReadTime,
  secondsSince,
  startReadTime,
  timed,
} from './read-time.ts';
import { toSeriesColumns, toSeriesSamples } from './series-samples.ts';
import {
  compileExemplars,
  compileNativeHistograms,
  compileSamples,
  decodeNativeHistograms,
  decodeSamples,
  type ExemplarRow,
  type HistogramOfSeries,
  type SamplesRow,
  type SamplesStep,
  toExemplar,
} from './sql/samples.ts';
import {
  compileLabelNames,
  compileLabelValues,
  compileMetadata,
  compileSeries,
  type SeriesRow,
  toLabels,
  toMetadata,
} from './sql/series.ts';
import type { Statement } from './sql/statement.ts';

type MetricsReader = Pick<
  Store,
  | 'samples'
  | 'sampleColumns'
  | 'exemplars'
  | 'series'
  | 'labelNames'
  | 'labelValues'
  | 'metricMetadata'
>;

/** The series of a plan, and the time left to read them. */
interface FoundSeries {
  readonly plan: SamplesPlan;
  /** Sorted by labels. */
  readonly series: readonly SeriesRow[];
  readonly time: ReadTime;
  readonly context: QueryContext;
}

/** Bounds the size of a statement. */
const seriesPerStatement = 20_000;

/** @param head recent samples in memory; undefined = none */
export function createMetricsReader(
  parts: ReaderParts,
  head: Pick<Head, 'read'> | undefined,
): MetricsReader {
  const { connection, database, events, limits } = parts;

  async function findSeries(plan: SamplesPlan, signal?: AbortSignal): Promise<FoundSeries> {
    const time = startReadTime(limits);
    const context = { accountId: plan.accountId, signal };
    if (plan.streams.length === 0) return { plan, series: [], time, context };
    const statement = compileSeries(database, plan, plan.maxSeries + 1, time.left());
    const series = await connection.read<SeriesRow>(statement, context);
    if (series.length > plan.maxSeries) throw tooMany(plan.maxSeries, 'series', 'maxReadSeries');
    return { plan, series, time, context };
  }

  async function samples(plan: SamplesPlan, signal?: AbortSignal): Promise<SeriesSamples[]> {
    const found = await findSeries(plan, signal);
    // At once: most accounts have no histograms, and their statement waits for nothing.
    const [rows, histograms] = await Promise.all([
      readSteps<SamplesRow>(found, async (step) => {
        const statement = compileSamples(database, plan, step);
        const decoded = [...decodeSamples(await connection.readBytes(statement, found.context))];
        return { rows: decoded, samples: decoded.reduce((sum, row) => sum + row.times.length, 0) };
      }),
      readSteps<HistogramOfSeries>(found, async (step) => {
        const statement = compileNativeHistograms(database, plan, step);
        const bytes = await connection.readBytes(statement, found.context);
        const decoded = [...decodeNativeHistograms(bytes)];
        return { rows: decoded, samples: decoded.length };
      }),
    ]);
    return toSeriesSamples(found.series, rows, histograms);
  }

  async function exemplars(plan: SamplesPlan, signal?: AbortSignal): Promise<Exemplar[]> {
    const found = await findSeries(plan, signal);
    const rows = await readSteps<ExemplarRow>(found, async (step) => {
      const statement = compileExemplars(database, plan, step);
      const read = await connection.read<ExemplarRow>(statement, found.context);
      return { rows: read, samples: read.length };
    });
    const rowsById = Map.groupBy(rows, ([id]) => id);
    return found.series.flatMap((one) => {
      const seriesLabels = toLabels(one);
      return (rowsById.get(one[0]) ?? []).map((row) => toExemplar(seriesLabels, row));
    });
  }

  async function rowsOf<Row, Result>(
    statement: Statement,
    context: QueryContext,
    toResult: (row: Row) => Result,
  ): Promise<Result[]> {
    return (await connection.read<Row>(statement, context)).map(toResult);
  }

  return {
    samples: (plan, signal) => timed(events, 'samples', samples(plan, signal)),
    sampleColumns: createColumnsReader(events, head, samples),
    exemplars: (plan, signal) => timed(events, 'exemplars', exemplars(plan, signal)),
    series(plan, signal) {
      const statement = compileSeries(database, plan, plan.limit, limits);
      return timed(events, 'series', rowsOf(statement, { ...plan, signal }, toLabels));
    },
    labelNames(plan, signal) {
      const statement = compileLabelNames(database, plan, limits);
      return timed(events, 'label_names', rowsOf(statement, { ...plan, signal }, textOf));
    },
    labelValues(plan, name, signal) {
      const statement = compileLabelValues(database, plan, name, limits);
      return timed(events, 'label_values', rowsOf(statement, { ...plan, signal }, textOf));
    },
    metricMetadata(plan, signal) {
      const statement = compileMetadata(database, plan, limits);
      return timed(events, 'metric_metadata', rowsOf(statement, { ...plan, signal }, toMetadata));
    },
  };
}

/** Reads from memory what is there, at once. Failures are counted as those of the store. */
function createColumnsReader(
  events: ReaderParts['events'],
  head: Pick<Head, 'read'> | undefined,
  samples: MetricsReader['samples'],
): MetricsReader['sampleColumns'] {
  const recentColumns: Head['read'] = (plan, caller) => {
    try {
      return head?.read(plan, caller);
    } catch (error) {
      return failed(error);
    }
  };
  const columns = async (
    plan: SamplesPlan,
    recent: ReturnType<Head['read']>,
    caller: Parameters<Head['read']>[1],
  ) => (await recent) ?? (await samples(plan, caller?.disconnected)).map(toSeriesColumns);
  return (plan, caller) => {
    const startedAt = performance.now();
    const recent = recentColumns(plan, caller);
    if (Array.isArray(recent)) {
      events.read('samples', secondsSince(startedAt));
      return recent;
    }
    return timed(events, 'samples', columns(plan, recent, caller));
  };
}

function textOf([text]: readonly [string]): string {
  return text;
}

async function failed(error: unknown): Promise<never> {
  throw error;
}

/** Reads the series in as many statements as needed. @throws AppError over `plan.maxSamples` */
async function readSteps<Row>(
  { plan, series, time }: FoundSeries,
  readStep: (step: SamplesStep) => Promise<{ rows: readonly Row[]; samples: number }>,
): Promise<Row[]> {
  const all: Row[] = [];
  let samples = 0;
  for (let at = 0; at < series.length; at += seriesPerStatement) {
    const seriesIds = series.slice(at, at + seriesPerStatement).map(([id]) => id);
    const limit = plan.maxSamples - samples + 1;
    const step = await readStep({ seriesIds, limit, limits: time.left() });
    samples += step.samples;
    if (samples > plan.maxSamples) throw tooMany(plan.maxSamples, 'samples', 'maxReadSamples');
    for (const row of step.rows) all.push(row);
  }
  return all;
}
