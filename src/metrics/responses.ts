/**
 * What the reads of metrics answer, as schemas for the OpenAPI document; answers are built to these
 * types, not validated. https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview
 */
import { z } from 'zod';

function envelope<Data extends z.ZodType>(data: Data) {
  return z.object({
    status: z.literal('success'),
    data,
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: 'There where the answer was cut to the limit that was asked for.' }),
  });
}

const labelSet = z.record(z.string(), z.string());

export const namesResponse = envelope(z.array(z.string()));
export const seriesResponse = envelope(z.array(labelSet));

const metadataData = z.record(
  z.string(),
  z.array(z.object({ type: z.string(), help: z.string(), unit: z.string() })),
);
export const metadataResponse = envelope(metadataData);

const exemplarsData = z.array(
  z.object({
    seriesLabels: labelSet,
    exemplars: z.array(
      z.object({
        labels: labelSet,
        value: z.string().meta({ description: 'A number, NaN, +Inf or -Inf.' }),
        timestamp: z.number().meta({ description: 'Unix seconds.' }),
      }),
    ),
  }),
);
export const exemplarsResponse = envelope(exemplarsData);

export const buildInfoResponse = envelope(
  z.object({
    application: z.string(),
    version: z.string().meta({ description: 'The version of Prometheus whose API this is.' }),
    revision: z.string(),
    branch: z.string(),
    buildUser: z.string(),
    buildDate: z.string(),
    goVersion: z.string(),
  }),
);

export type MetadataData = z.output<typeof metadataData>;
export type ExemplarsData = z.output<typeof exemplarsData>;

export interface Success<Data> {
  readonly status: 'success';
  readonly data: Data;
  readonly warnings?: readonly string[];
}
