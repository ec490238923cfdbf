/** The HTTP route in OpenAPI. */
import { z } from 'zod';
import type { BodyDescription, IngestDescription } from '../../model/protocol.ts';

const specification = 'https://opentelemetry.io/docs/specs/otlp/';

const exportRequest = z
  .looseObject({ resourceLogs: z.array(z.looseObject({})).optional() })
  .meta({ description: `ExportLogsServiceRequest as JSON: ${specification}` });

const exportResponse = z.object({
  partialSuccess: z
    .object({
      rejectedLogRecords: z
        .string()
        .optional()
        .meta({ description: 'A count, as a decimal string.' }),
      errorMessage: z.string().optional(),
    })
    .optional()
    .meta({ description: 'Only if records were rejected or changed.' }),
});

const status = z
  .object({
    code: z.int().meta({ description: 'gRPC status code.' }),
    message: z.string(),
    details: z.array(z.looseObject({})).optional(),
  })
  .meta({ description: 'google.rpc.Status' });

const exampleRequest = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'auth' } }] },
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: '1544712660300000000',
              severityText: 'INFO',
              body: { stringValue: 'user signed in' },
            },
          ],
        },
      ],
    },
  ],
};

const bytes = (text: string): BodyDescription => ({
  schema: z.string().meta({ description: text, contentMediaType: 'application/x-protobuf' }),
});

export const description: IngestDescription = {
  operationId: 'ingestOtlpLogs',
  summary: 'Send logs by OTLP over HTTP',
  details:
    `Accepts an ExportLogsServiceRequest (${specification}) as protobuf or JSON, with or without ` +
    'gzip, and responds in the same encoding. Only 429 and 503 may be retried. The same requests ' +
    'are accepted over gRPC at the same address: ' +
    '`opentelemetry.proto.collector.logs.v1.LogsService/Export`.',
  request: {
    'application/json': { schema: exportRequest, examples: { one: exampleRequest } },
    'application/x-protobuf': bytes('ExportLogsServiceRequest'),
  },
  answers: {
    200: {
      description: 'All records except the rejected ones are durable.',
      content: {
        'application/json': {
          schema: exportResponse,
          examples: {
            all: {},
            some: {
              partialSuccess: {
                rejectedLogRecords: '1',
                errorMessage: 'cannot accept 1 log record: …',
              },
            },
          },
        },
        'application/x-protobuf': bytes('ExportLogsServiceResponse'),
      },
    },
  },
  errors: {
    'application/json': { schema: status },
    'application/x-protobuf': bytes('google.rpc.Status'),
  },
  // Answered as 503: OTLP senders drop their data on 408 and 500.
  unanswered: ['timeout', 'internal'],
};
