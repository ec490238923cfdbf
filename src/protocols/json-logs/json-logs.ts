/** Plain JSON logs (SPEC §4.1): one event or an array of events, answered with counts. */
import { z } from 'zod';
import type { IngestDescription, Protocol } from '../../model/protocol.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import { createJsonLogsDecoder } from './decode.ts';
import { eventProtocol } from './event-protocol.ts';

/** The body as sent, its rows, and their copy while they are appended to the queue. */
const heapBytesPerBodyByte = 4;

export function createJsonLogs(config: Config): Protocol {
  const decode = createJsonLogsDecoder();
  return {
    ...eventProtocol(config),
    name: 'json_logs',
    http: { path: 'logs', description },
    mediaTypes: [{ name: 'application/json' }],
    codings: ['identity'],
    formatAdvice: 'NDJSON, text lines, logfmt, gzip and zstd belong to …/lines',
    heapBytesPerBodyByte,
    decode: (body, _format, { limits }) => decode(body, limits),
    reply: (batch) => ({ status: 202, contentType: 'application/json', body: toText(batch) }),
  };
}

/**
 * `accepted` counts the accepted events; `rejected` lists the first rejected ones; `warnings`
 * counts events that were stored with a change.
 */
export function toText({ rows, rejected, rejectedCount, warnings }: Batch): string {
  const isChanged = warnings !== undefined && warnings.size > 0;
  if (rejectedCount === 0 && !isChanged) return `{"accepted":${rows}}`;
  return JSON.stringify({
    accepted: rows,
    ...(rejectedCount > 0 && { rejected, rejectedCount }),
    ...(isChanged && {
      warnings: Array.from(warnings, ([reason, count]) => ({ reason, count })),
    }),
  });
}

const text = z.string().nullable().optional();

/** Documentation only: the decoder validates events. */
const logEvent = z
  .looseObject({
    message: z
      .string()
      .optional()
      .describe(
        'The log text; may be empty. Alternatives: `msg`, `event`, `log`, `MESSAGE`, ' +
          '`short_message`, `body`, `fields.message`, `@m`, `@mt`, `Message`, `error.message`.',
      ),
    severity: text.describe(
      'Level name, stored in upper case. Alternatives: `level`, `levelname`, `level_name`, ' +
        '`log.level`, `severity_text`, `@l`, `LogLevel`, `PRIORITY`.',
    ),
    service_name: text.describe(
      'Alternatives: `service`, `service.name`, `SYSLOG_IDENTIFIER`, `PROGRAM`, ' +
        '`fields.service`, and `name` of pino.',
    ),
    service_namespace: text,
    host: text.describe(
      'Alternatives: `hostname`, `host.name`, `host.hostname`, `_HOSTNAME`, `HOST`.',
    ),
    labels: z
      .record(z.string(), z.unknown())
      .nullable()
      .optional()
      .describe('Scalar values become strings, nested ones JSON text.'),
    timestamp: z
      .union([z.string(), z.number()])
      .nullable()
      .optional()
      .describe(
        'RFC 3339, ISO 8601 without a zone (UTC), RFC 1123, common log format, or an epoch ' +
          'in s, ms, µs or ns, as a number or text. Alternatives: `time`, `ts`, ' +
          '`@timestamp`, `asctime`, `datetime`, `__REALTIME_TIMESTAMP`, `@t`, ' +
          '`Timestamp`, `ISODATE`.',
      ),
    trace_id: text,
    span_id: text,
  })
  .describe('One log event. Any other key becomes a label; null is the same as absent.');

const oneEvent = {
  message: 'user signed in',
  severity: 'INFO',
  service_name: 'auth',
  host: 'web-1',
  labels: { region: 'eu' },
};

const description: IngestDescription = {
  operationId: 'ingestJsonLogs',
  summary: 'Send logs as plain JSON',
  details:
    'Accepts one JSON object or an array of objects. Responds when all accepted events are ' +
    'durable. Invalid events of an array are rejected individually; a body with only invalid ' +
    'events is refused with 400.',
  request: {
    'application/json': {
      schema: z.union([logEvent, z.array(logEvent)]),
      examples: { one: oneEvent, several: [oneEvent, { message: 'user signed out' }] },
    },
  },
  answers: {
    202: {
      description: 'Everything counted in `accepted` is durable.',
      content: {
        'application/json': {
          schema: z.object({
            accepted: z.int().min(0).describe('Number of accepted events.'),
            rejected: z
              .array(z.object({ index: z.int().min(0), reason: z.string() }))
              .optional()
              .describe('The first rejected events, by index in the array.'),
            warnings: z
              .array(z.object({ reason: z.string(), count: z.int().min(1) }))
              .optional()
              .describe('Events that were stored with a change.'),
          }),
          examples: {
            all: { accepted: 1 },
            some: { accepted: 1, rejected: [{ index: 1, reason: 'message is missing' }] },
          },
        },
      },
    },
  },
};
