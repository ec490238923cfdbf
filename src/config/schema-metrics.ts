/** Settings of metrics: limits of series and reads, and the translation of OTLP. */
import { z } from 'zod';
import { integer, list, section } from './schema-parts.ts';

/** Names of `translation_strategy` in Prometheus. */
const translations = [
  'UnderscoreEscapingWithSuffixes',
  'UnderscoreEscapingWithoutSuffixes',
  'NoUTF8EscapingWithSuffixes',
  'NoTranslation',
] as const;

export const metricsSection = section({
  maxSeriesPerAccount: integer('count', 1_000_000, 1, 4_000_000).describe(
    'Series of an account per day; samples of more series are rejected.',
  ),
  maxLabels: integer('count', 64, 1, 1000).describe(
    'Labels of a series, including the metric name.',
  ),
  maxLabelNameLength: integer('count', 1024, 1, 65_536).describe(
    'Length of a label name, in characters.',
  ),
  maxLabelValueLength: integer('count', 8192, 1, 1_048_576).describe(
    'Length of a label value, in characters.',
  ),
  maxReadSeries: integer('count', 100_000, 1, 10_000_000).describe(
    'Series that one read of metrics may touch; more is an error.',
  ),
  maxReadSamples: integer('count', 5_000_000, 1, 100_000_000).describe(
    'Samples that one read of metrics may return; more is an error.',
  ),
  maxQuerySamples: integer('count', 10_000_000, 1, 1_000_000_000).describe(
    'Samples that one PromQL query may hold in memory, 16 bytes each; more is an error.',
  ),
  maxSamplesInMemory: integer('count', 8_000_000, 0, 1_000_000_000).describe(
    'Memory for samples of queried streams, in units of 16 bytes, where no other node inserts; ' +
      '0 = none. A sample takes 8 to 16 bytes. Three quarters of it are filled before queries.',
  ),
  ...settingsOfOtlpMetrics(),
});

function settingsOfOtlpMetrics() {
  return {
    otlpTranslation: z
      .enum(translations)
      .default('UnderscoreEscapingWithSuffixes')
      .describe('Names of OTLP metrics and labels, as translation_strategy of Prometheus.'),
    otlpPromotedAttributes: list().describe(
      'Resource attributes of OTLP that become labels of every series, such as ' +
        'deployment.environment.name; others are labels of target_info.',
    ),
    otlpScope: z
      .enum(['omit', 'labels'])
      .default('omit')
      .describe(
        'Instrumentation scope of OTLP metrics: omit it, or add labels otel_scope_… with its ' +
          'name, version and attributes, as promote_scope_metadata of Prometheus.',
      ),
    otlpMaxDeltaSeries: integer('count', 200_000, 0, 4_000_000).describe(
      'Running totals of series that OTLP senders report in deltas, about 300 bytes each; 0 = ' +
        'each delta is stored as a separate counter.',
    ),
  };
}
