/**
 * Runs the reads of what was measured, within their limits: first which series are meant, then what
 * is stored of them. What a plan means is settled in sql/.
 */
import type { Exemplar, SamplesPlan, SeriesSamples } from '../model/metric-plan.ts';
import type { Asker } from './connection.ts';
import { tooMuch } from './failures.ts';
import type { Store } from './port.ts';
import { type ReadTime, startReadTime, timed } from './read-time.ts';
import type { MetricsReaderParts } from './series-reader.ts';
import { toSeriesSamples } from './series-samples.ts';
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
import { compileSeries, type SeriesRow, toLabels } from './sql/series.ts';

/** As the store's port promises. */
export type SamplesReader = Pick<Store, 'samples' | 'exemplars'>;

/** The series of a plan, and the time left to read what is stored of them. */
interface Meant {
  readonly plan: SamplesPlan;
  /** Sorted by labels. */
  readonly series: readonly SeriesRow[];
  readonly time: ReadTime;
  readonly asker: Asker;
}

/** A statement stays short however many series are meant. */
const seriesPerStatement = 20_000;

export function createSamplesReader(parts: MetricsReaderParts): SamplesReader {
  const { connection, database, events, limits } = parts;

  async function findSeries(plan: SamplesPlan, signal?: AbortSignal): Promise<Meant> {
    const time = startReadTime(limits);
    const asker = { accountId: plan.accountId, signal };
    if (plan.streams.length === 0) return { plan, series: [], time, asker };
    const statement = compileSeries(database, plan, plan.maxSeries + 1, time.left());
    const series = await connection.read<SeriesRow>(statement, asker);
    if (series.length > plan.maxSeries) throw tooMuch(plan.maxSeries, 'series', 'maxReadSeries');
    return { plan, series, time, asker };
  }

  async function samples(plan: SamplesPlan, signal?: AbortSignal): Promise<SeriesSamples[]> {
    const meant = await findSeries(plan, signal);
    const rows = await readSteps<SamplesRow>(meant, async (step) => {
      const statement = compileSamples(database, plan, step);
      const found = [...decodeSamples(await connection.readBytes(statement, meant.asker))];
      return { rows: found, samples: found.reduce((sum, row) => sum + row.times.length, 0) };
    });
    const histograms = await readSteps<HistogramOfSeries>(meant, async (step) => {
      const statement = compileNativeHistograms(database, plan, step);
      const bytes = await connection.readBytes(statement, meant.asker);
      const found = [...decodeNativeHistograms(bytes)];
      return { rows: found, samples: found.length };
    });
    return toSeriesSamples(meant.series, rows, histograms);
  }

  async function exemplars(plan: SamplesPlan, signal?: AbortSignal): Promise<Exemplar[]> {
    const meant = await findSeries(plan, signal);
    const rows = await readSteps<ExemplarRow>(meant, async (step) => {
      const statement = compileExemplars(database, plan, step);
      const found = await connection.read<ExemplarRow>(statement, meant.asker);
      return { rows: found, samples: found.length };
    });
    const rowsById = Map.groupBy(rows, ([id]) => id);
    return meant.series.flatMap((one) => {
      const seriesLabels = toLabels(one);
      return (rowsById.get(one[0]) ?? []).map((row) => toExemplar(seriesLabels, row));
    });
  }

  return {
    samples: (plan, signal) => timed(events, 'samples', samples(plan, signal)),
    exemplars: (plan, signal) => timed(events, 'exemplars', exemplars(plan, signal)),
  };
}

/**
 * What is stored of the series, in as many steps as it takes. @throws AppError for too much of it
 */
async function readSteps<Row>(
  { plan, series, time }: Meant,
  readStep: (step: SamplesStep) => Promise<{ rows: readonly Row[]; samples: number }>,
): Promise<Row[]> {
  const all: Row[] = [];
  let samples = 0;
  for (let at = 0; at < series.length; at += seriesPerStatement) {
    const seriesIds = series.slice(at, at + seriesPerStatement).map(([id]) => id);
    const limit = plan.maxSamples - samples + 1;
    const step = await readStep({ seriesIds, limit, limits: time.left() });
    samples += step.samples;
    if (samples > plan.maxSamples) throw tooMuch(plan.maxSamples, 'samples', 'maxReadSamples');
    for (const row of step.rows) all.push(row);
  }
  return all;
}
