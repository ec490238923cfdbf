/** Valid and invalid parts of remote_write requests, and a decoder with small limits. */
import assert from 'node:assert/strict';
import type { Batch } from '../../src/model/batch.ts';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import type { SeriesView } from '../../src/model/series-view.ts';
import { createRemoteWriteDecoders } from '../../src/protocols/remote-write/remote-write.ts';
import { encodeMessage } from './prompb-schema.ts';
import { type MetricRows, readMetricRows } from './read-metric-rows.ts';

const labels = { maxLabels: 5, maxLabelNameLength: 20, maxLabelValueLength: 30 };
const limits = { maxEvents: 1000, maxDepth: 1, maxRejections: 3 };
const memo = { maxBytes: 1e6, maxSeries: 1000 };
const { v1, v2 } = createRemoteWriteDecoders({
  labels,
  maxLabelBytes: 2000,
  maxInflatedBytes: 100_000,
  memo,
});

export async function decode(body: Buffer, series: SeriesView = blankSeriesView): Promise<Batch> {
  return v1(body, { limits, nowMs: 0, series });
}

/** Of a request of version 2. */
export async function decodeV2(
  body: Buffer,
  { maxEvents }: { maxEvents: number } = limits,
): Promise<Batch> {
  return v2(body, { limits: { ...limits, maxEvents }, nowMs: 0, series: blankSeriesView });
}

export async function rowsOf(body: Buffer, series?: SeriesView): Promise<MetricRows> {
  const { payload } = await decode(body, series);
  return readMetricRows(payload);
}

/** A length-delimited field; shorter than 128 bytes. */
export function field(number: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  assert.ok(content.length < 128);
  return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
}

export function label(name: string, value: string): Buffer {
  return field(1, encodeMessage('Label', { name, value }));
}

export function sample(timestamp: number, value: number): Buffer {
  return field(2, encodeMessage('Sample', { timestamp, value }));
}
