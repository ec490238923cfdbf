/** The route in OpenAPI. */
import { z } from 'zod';
import type { IngestDescription } from '../../model/protocol.ts';

const text = z.string().nullable().optional();

/** Documentation only: the decoder validates events. */
const logEvent = z
  .looseObject({
    message: z
      .string()
      .optional()
      .meta({ description: 'The log text; may be empty. `msg` or `event` stand in for it.' }),
    severity: text.meta({
      description: 'Level name, kept as sent in upper case. `level` stands in for it.',
    }),
    service_name: text.meta({ description: '`service` stands in for it.' }),
    service_namespace: text,
    host: text.meta({ description: '`hostname` stands in for it.' }),
    labels: z
      .record(z.string(), z.unknown())
      .nullable()
      .optional()
      .meta({ description: 'Scalar values become strings, nested ones JSON text.' }),
    timestamp: z.union([z.string(), z.number()]).nullable().optional().meta({
      description:
        'RFC 3339, or an epoch in s, ms, µs or ns. `time`, `ts` and `@timestamp` stand in for it.',
    }),
    trace_id: text,
    span_id: text,
  })
  .meta({
    description: 'One log event. Any other key becomes a label; null is the same as absent.',
  });

const oneEvent = {
  message: 'user signed in',
  severity: 'INFO',
  service_name: 'auth',
  host: 'web-1',
  labels: { region: 'eu' },
};

export const description: IngestDescription = {
  operationId: 'ingestJsonLogs',
  summary: 'Send logs as plain JSON',
  details:
    'Takes one JSON object or an array of objects. The answer comes once all accepted events are ' +
    'durable. In an array, an event that cannot be taken is rejected alone; a body in which ' +
    'nothing can be taken is refused with 400.',
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
            accepted: z.int().min(0).meta({ description: 'Number of events taken.' }),
            rejected: z
              .array(z.object({ index: z.int().min(0), reason: z.string() }))
              .optional()
              .meta({
                description: 'The first events that were not taken, by their place in the array.',
              }),
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
