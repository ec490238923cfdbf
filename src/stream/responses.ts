/** Responses of the reads as schemas for the OpenAPI document; types are inferred from them. */
import { z } from 'zod';

export const isoTime = z
  .string()
  .meta({ format: 'date-time', examples: ['2026-04-01T08:30:00.123Z'] });

const position = z
  .object({
    timestamp: isoTime,
    logId: z.string().meta({ format: 'uuid' }),
  })
  .describe('A position in the order of logs, by time and logId.');

export const logRecord = z.object({
  logId: z.string().meta({ format: 'uuid', description: 'Sorts in the order of the list.' }),
  timestamp: isoTime,
  timestampNanos: z.string().describe('Unix nanoseconds.'),
  observedTimestamp: isoTime,
  receivedAt: isoTime.describe('Time of receipt.'),
  streamId: z.string().meta({ format: 'uuid' }),
  receiverId: z.string(),
  severity: z.string().meta({ examples: ['INFO'] }),
  severityNumber: z.int().describe('OpenTelemetry severity number; 0 = unknown severity.'),
  message: z.string(),
  serviceName: z.string(),
  serviceNamespace: z.string(),
  host: z.string(),
  labels: z.record(z.string(), z.string()),
  kubernetes: z.object({
    cluster: z.string(),
    namespace: z.string(),
    node: z.string(),
    pod: z.string(),
    container: z.string(),
    deployment: z.string(),
  }),
  traceId: z.string(),
  spanId: z.string(),
  traceFlags: z.int().describe('W3C trace flags; 0 = none.'),
  eventName: z.string().describe('OpenTelemetry event name.'),
  scope: z
    .object({ name: z.string(), version: z.string() })
    .describe('Instrumentation scope, such as a logger.'),
});

const { logId, timestamp, kubernetes, scope } = logRecord.shape;
const partOfLog = logRecord.partial().extend({
  logId,
  timestamp,
  kubernetes: kubernetes.partial().optional(),
  scope: scope.partial().optional(),
});

export const listResponse = z.object({
  logs: z
    .array(z.union([logRecord, partOfLog]))
    .describe('In the requested order; with `fields` only these parts of each.'),
  cursor: position.describe(
    'Position of the next page: the oldest log, or the newest with since or order=asc.',
  ),
  newest: position.describe('Start value of since for polling.'),
});

export const contextResponse = z.object({
  after: z.array(logRecord).describe('Newer logs, newest first.'),
  log: logRecord,
  before: z.array(logRecord).describe('Older logs, newest first.'),
});

const bucket = z.object({
  startTime: isoTime,
  endTime: isoTime,
  count: z.int(),
});

export const histogramResponse = z.object({
  startTime: isoTime,
  endTime: isoTime,
  buckets: z.array(
    bucket.extend({
      groups: z
        .record(z.string(), z.int())
        .optional()
        .describe('Count of each listed value; only with groupBy.'),
      other: z.int().optional().describe('Logs with none of the listed values; only with groupBy.'),
    }),
  ),
  total: z.int(),
});

export const facetResponse = z.object({
  field: z.string().describe('The requested name.'),
  values: z.array(z.object({ value: z.string(), count: z.int() })),
  other: z.int().describe('Number of logs with none of these values.'),
  total: z.int().describe('Number of matching logs.'),
});

export const facetsBatchResponse = z.object({ facets: z.array(facetResponse) });

export type ListResponse = z.output<typeof listResponse>;
export type ContextResponse = z.output<typeof contextResponse>;
export type HistogramResponse = z.output<typeof histogramResponse>;
export type FacetResponse = z.output<typeof facetResponse>;
export type FacetsBatchResponse = z.output<typeof facetsBatchResponse>;
