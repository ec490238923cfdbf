/** Decodes OTLP metrics requests to rows with the labels of their series. */
import assert from 'node:assert/strict';
import type { Batch } from '../../src/model/batch.ts';
import { blankSeriesView } from '../harness/blank-series-view.ts';
import type { Protocol } from '../../src/model/protocol.ts';
import { configSchema } from '../../src/config/schema.ts';
import { createOtlpMetrics } from '../../src/protocols/otlp/metrics/otlp-metrics.ts';
import { encodeMetricsRequest, type MetricsRequest, writeMetricsJson } from './otlp-metrics.ts';
import { type MetricRows, readMetricRows } from './read-metric-rows.ts';

export const nowMs = 1_700_000_000_000;
type Settings = Partial<ReturnType<typeof configSchema.parse>['metrics']>;

export type Encoding = 'json' | 'protobuf' | 'grpc';

export interface OtlpMetrics {
  decode(request: MetricsRequest, encoding?: Encoding): Promise<Batch>;
  decodeBody(body: Buffer, encoding: Encoding): Promise<Batch>;
}

/** A decoder with running totals of its own. */
export function openOtlpMetrics(settings: Settings = {}, series = blankSeriesView): OtlpMetrics {
  const protocols = createOtlpMetrics(configSchema.parse({ metrics: settings }));
  const decodeBody = async (body: Buffer, encoding: Encoding) => {
    const protocol: Protocol = protocols[encoding === 'grpc' ? 1 : 0];
    const name = encoding === 'json' ? 'application/json' : 'application/x-protobuf';
    const mediaType = encoding === 'grpc' ? 'application/grpc' : name;
    const format = {
      mediaType,
      parameters: new Map<string, string>(),
      coding: 'identity',
    } as const;
    const context = { limits: protocol.limits, nowMs, series };
    return protocol.decode(body, format, context);
  };
  return {
    decodeBody,
    decode: (request, encoding = 'protobuf') => {
      const write = encoding === 'json' ? writeMetricsJson : encodeMetricsRequest;
      return decodeBody(write(request), encoding);
    },
  };
}

/** A stored record with the labels of its series as `name{label="value"}`. */
export interface Stored {
  readonly series: string;
  readonly timeMs: number;
  readonly value: number;
}

/** Samples in the order written. */
export function samplesOf({ payload }: Batch): Stored[] {
  const rows = readMetricRows(payload);
  const names = namesOf(rows);
  return rows.samples.map(({ id, timeMs, value }) => {
    const series = names.get(id);
    assert.ok(series !== undefined, 'a sample has a series');
    return { series, timeMs: Number(timeMs), value };
  });
}

/** Values by series; the last of each. */
export function valuesOf(batch: Batch): Record<string, number> {
  return Object.fromEntries(samplesOf(batch).map(({ series, value }) => [series, value]));
}

export function namesOf({ series }: MetricRows): Map<bigint, string> {
  return new Map(
    series.map(({ id, labels }) => {
      const name = labels.find(([key]) => key === '__name__')?.[1] ?? '';
      const others = labels.filter(([key]) => key !== '__name__');
      const texts = others.map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      return [id, texts.length === 0 ? name : `${name}{${texts.join(',')}}`];
    }),
  );
}
