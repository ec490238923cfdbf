/** Decodes pushes of Prometheus text and OpenMetrics to `metrics/1`. One fault fails the push. */
import { isUtf8 } from 'node:buffer';
import type { Batch } from '../../model/batch.ts';
import { MetricWriter } from '../../codec/metric-writer.ts';
import type { DecodeContext } from '../../model/protocol.ts';
import type { LabelLimits } from '../../codec/series-labels.ts';
import { createSlicedDecoder } from '../../codec/sliced-decoder.ts';
import { ClassicFamilies } from './families.ts';
import { Exposition } from './exposition.ts';
import { classicText, type Grammar, openMetrics, refuseAt } from './tokens.ts';
import { OpenMetricsFamilies } from './openmetrics-families.ts';
import { SampleSet } from './sample-set.ts';
import { SeriesCache } from './series-cache.ts';

export type TextFormat = 'classic' | 'openmetrics';

export type PromTextDecoder = (
  body: Buffer,
  format: TextFormat,
  context: DecodeContext,
) => Batch | Promise<Batch>;

/**
 * The decoder remembers the series it has seen. It throws AppError `malformed` with line and
 * column, `too_large` for more samples or families than `maxEvents`, and `quota_exceeded` for
 * a series beyond the account's limit.
 */
export function createPromTextDecoder(labels: LabelLimits): PromTextDecoder {
  const caches = { classic: new SeriesCache(), openmetrics: new SeriesCache() };
  const decodeInSlices = createSlicedDecoder(createWorkspace);
  return (body, format, context) => {
    checkUtf8(body);
    return decodeInSlices((workspace) => {
      const parts = { ...workspace, ...toRules(format), labels, series: caches[format] };
      return new Exposition(body, parts, context);
    });
  };
}

function createWorkspace() {
  const writer = new MetricWriter();
  const samples = new SampleSet();
  const clear = () => {
    writer.clear();
    samples.clear();
  };
  return { writer, samples, clear };
}

function toRules(format: TextFormat): {
  grammar: Grammar;
  rules: ClassicFamilies | OpenMetricsFamilies;
} {
  if (format === 'classic') return { grammar: classicText, rules: new ClassicFamilies() };
  return { grammar: openMetrics, rules: new OpenMetricsFamilies() };
}

/** Finds the first invalid byte: decoding replaces it by U+FFFD, which encodes differently. */
function checkUtf8(body: Buffer): void {
  if (isUtf8(body)) return;
  const read = Buffer.from(body.toString('utf8'));
  let at = 0;
  while (read[at] === body[at]) at += 1;
  refuseAt(body, at, 'the text is not valid UTF-8');
}
