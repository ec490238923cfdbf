/** Pushes text through the decoder of Prometheus' formats. */
import assert from 'node:assert/strict';
import { AppError } from '../../src/model/errors.ts';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import type { SeriesView } from '../../src/model/series-view.ts';
import { createPromTextDecoder, type TextFormat } from '../../src/protocols/prom-text/prom-text.ts';
import { type LabelRow, type MetricRows, readMetricRows } from './read-metric-rows.ts';

export const labelLimits = { maxLabels: 8, maxLabelNameLength: 40, maxLabelValueLength: 60 };
export const nowMs = 1_767_319_445_123;

const limits = { maxEvents: 5000, maxDepth: 1, maxRejections: 1 };
const decode = createPromTextDecoder(labelLimits);

export interface PushOptions {
  readonly maxEvents?: number;
  readonly series?: SeriesView;
}

/** @returns the rows, and each sample as text: `name{labels} value time`. */
export async function push(
  body: string | Buffer,
  format: TextFormat,
  { maxEvents = limits.maxEvents, series = blankSeriesView }: PushOptions = {},
): Promise<MetricRows & { readonly lines: string[] }> {
  const context = { limits: { ...limits, maxEvents }, nowMs, series };
  const batch = await decode(Buffer.from(body), format, context);
  const rows = readMetricRows(batch.payload);
  assert.deepEqual(batch.written, {
    samples: rows.samples.length,
    histograms: 0,
    exemplars: rows.exemplars.length,
    metadata: rows.metadata.length,
  });
  const records = rows.samples.length + rows.exemplars.length + rows.metadata.length;
  assert.equal(batch.rows, records);
  const labels = new Map(rows.series.map((row) => [row.id, row.labels]));
  const lines = rows.samples.map(({ id, timeMs, value }) => {
    const number = Object.is(value, -0) ? '-0' : String(value);
    return `${describeLabels(labels.get(id) ?? [])} ${number} ${timeMs}`;
  });
  return { ...rows, lines };
}

/** @returns the expected error. */
export async function refusalOf(
  body: string | Buffer,
  format: TextFormat,
  options?: PushOptions,
): Promise<AppError> {
  try {
    await push(body, format, options);
  } catch (error) {
    assert.ok(error instanceof AppError, `an AppError, not ${String(error)}`);
    assert.match(error.message, /^cannot /);
    return error;
  }
  assert.fail(`the push must be refused: ${JSON.stringify(String(body).slice(0, 200))}`);
}

function describeLabels(labels: LabelRow): string {
  const name = labels.find(([label]) => label === '__name__')?.[1] ?? '';
  const others = labels.filter(([label]) => label !== '__name__');
  if (others.length === 0) return name;
  const pairs = others.map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${pairs.join(',')}}`;
}
