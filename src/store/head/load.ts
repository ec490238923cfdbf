/** Reads from the store what memory keeps: the series of recent days, and samples of some. */
import type { SamplesPlan } from '../../model/metric-plan.ts';
import type { ReadableStream } from '../../model/plan.ts';
import type { Connection } from '../connection.ts';
import { startReadTime } from '../read-time.ts';
import { inOrder, toColumns } from '../series-samples.ts';
import { compileSamples, decodeSamples } from '../sql/samples.ts';
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
      head.addSeries(decodeRecentSeries(series, head.intern));
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
  { connection, database, limits }: LoadParts,
  plan: SamplesPlan,
  series: readonly IndexedSeries[],
  signal: AbortSignal | undefined,
): Promise<LoadedSeries[] | undefined> {
  const time = startReadTime(limits);
  const rest = new Map(series.map((one) => [idOf(one), one]));
  const ids = [...rest.keys()];
  const loaded: LoadedSeries[] = [];
  let count = 0;
  for (let at = 0; at < ids.length; at += seriesPerStatement) {
    const seriesIds = ids.slice(at, at + seriesPerStatement).map(String);
    const step = { seriesIds, limit: plan.maxSamples - count + 1, limits: time.left() };
    const statement = compileSamples(database, plan, step);
    const bytes = await connection.readBytes(statement, { accountId: plan.accountId, signal });
    for (const row of decodeSamples(bytes)) {
      count += row.times.length;
      const one = rest.get(row.seriesId);
      rest.delete(row.seriesId);
      if (one !== undefined) loaded.push({ series: one, ...toColumns(inOrder(row)) });
    }
    if (count > plan.maxSamples) return undefined;
  }
  for (const one of rest.values()) {
    loaded.push({ series: one, times: new Float64Array(), values: new Float64Array() });
  }
  return loaded;
}

function idOf({ id }: IndexedSeries): bigint {
  const [low, high] = new BigUint64Array(id.buffer, id.byteOffset, 2);
  return (high! << 64n) | low!;
}
