/** Reads from the store what memory keeps: the series of recent days, and samples of some. */
import type { SamplesPlan } from '../../model/metric-plan.ts';
import type { ReadableStream } from '../../model/plan.ts';
import type { Connection } from '../connection.ts';
import { startReadTime } from '../read-time.ts';
import { type Columns, inOrder, toColumns, uniqueColumns } from '../series-samples.ts';
import {
  compileSamples,
  compileStoredSamples,
  decodeSamples,
  type SamplesStep,
} from '../sql/samples.ts';
import type { ReadLimits } from '../sql/statement.ts';
import {
  compileHistogramSeries,
  compileRecentSeries,
  decodeIds,
  decodeRecentSeries,
} from './recent-series.ts';
import type { IndexedSeries } from './series-index.ts';
import type { LoadedSeries, StreamHead } from './stream-head.ts';

export interface LoadParts {
  readonly connection: Pick<Connection, 'readBytes'>;
  readonly database: string;
  readonly limits: ReadLimits;
}

/** Streams with more series are read from the store. */
export const maxSeriesOfStream = 50_000;
/** Bounds the size of a statement. */
const seriesPerStatement = 20_000;
const dayMs = 86_400_000;

/** @returns false if there are too many */
export async function loadSeries(
  { connection, database, limits }: LoadParts,
  { accountId, stream, head }: { accountId: string; stream: ReadableStream; head: StreamHead },
): Promise<boolean> {
  const fromMs = BigInt(head.fromDay * dayMs);
  const recent = { accountId, stream, fromMs, limit: maxSeriesOfStream + 1 };
  const isKept = await head.readInto(
    () =>
      Promise.all([
        connection.readBytes(compileRecentSeries(database, recent, limits), { accountId }),
        connection.readBytes(compileHistogramSeries(database, recent, limits), { accountId }),
      ]),
    ([series, histograms]) => {
      head.addSeries(decodeRecentSeries(series));
      head.markHistograms(decodeIds(histograms));
      return [];
    },
  );
  if (isKept && head.index.size <= maxSeriesOfStream) return true;
  head.close();
  return false;
}

/** @returns undefined if there are more samples than the plan allows */
export async function loadSamples(
  parts: LoadParts,
  plan: SamplesPlan,
  series: readonly IndexedSeries[],
  signal: AbortSignal | undefined,
): Promise<LoadedSeries[] | undefined> {
  const time = startReadTime(parts.limits);
  const rest = new Map(series.map((one) => [idOf(one), one]));
  const ids = [...rest.keys()];
  const loaded: LoadedSeries[] = [];
  let count = 0;
  for (let at = 0; at < ids.length; at += seriesPerStatement) {
    const seriesIds = ids.slice(at, at + seriesPerStatement).map(String);
    const step = { seriesIds, limit: plan.maxSamples - count + 1, limits: time.left() };
    for (const { seriesId, columns } of await loadStep(parts, { plan, step, signal })) {
      count += columns.times.length;
      const one = rest.get(seriesId);
      rest.delete(seriesId);
      if (one !== undefined) loaded.push({ series: one, ...columns });
    }
    if (count > plan.maxSamples) return undefined;
  }
  for (const one of rest.values()) {
    loaded.push({ series: one, times: new Float64Array(), values: new Float64Array() });
  }
  return loaded;
}

interface LoadedRow {
  readonly seriesId: bigint;
  readonly columns: Columns;
}

async function loadStep(
  { connection, database }: LoadParts,
  { plan, step, signal }: { plan: SamplesPlan; step: SamplesStep; signal: AbortSignal | undefined },
): Promise<LoadedRow[]> {
  const context = { accountId: plan.accountId, signal };
  const stored = await connection.readBytes(compileStoredSamples(database, plan, step), context);
  const unique = uniqueRows(stored, step.limit);
  if (unique !== undefined) return unique;
  const bytes = await connection.readBytes(compileSamples(database, plan, step), context);
  return Array.from(decodeSamples(bytes), (row) => ({
    seriesId: row.seriesId,
    columns: toColumns(inOrder(row)),
  }));
}

/** @returns undefined where the store has to choose between rows, or did not return all */
function uniqueRows(bytes: Buffer, limit: number): LoadedRow[] | undefined {
  const rows: LoadedRow[] = [];
  let count = 0;
  for (const { seriesId, ...samples } of decodeSamples(bytes)) {
    count += samples.times.length;
    const columns = uniqueColumns(toColumns(samples));
    if (columns === undefined || count >= limit) return undefined;
    rows.push({ seriesId, columns });
  }
  return rows;
}

function idOf({ id }: IndexedSeries): bigint {
  const [low, high] = new BigUint64Array(id.buffer, id.byteOffset, 2);
  return (high! << 64n) | low!;
}
