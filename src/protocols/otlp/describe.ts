/** The HTTP routes of all signals in OpenAPI. */
import { z } from 'zod';
import type { BodyDescription, IngestDescription } from '../../model/protocol.ts';

const specification = 'https://opentelemetry.io/docs/specs/otlp/';

interface Signal {
  readonly operationId: string;
  readonly summary: string;
  /** As in `ExportLogsServiceRequest`. */
  readonly name: 'Logs' | 'Metrics';
  /** Key of the request. */
  readonly resources: string;
  /** Key of the count of rejected records. */
  readonly rejected: string;
  /** A value of the first key. */
  readonly example: readonly object[];
  /** How the records are stored; a sentence. */
  readonly details: string;
}

const status = z
  .object({
    code: z.int().describe('gRPC status code.'),
    message: z.string(),
    details: z.array(z.looseObject({})).optional(),
  })
  .describe('google.rpc.Status');

const bytes = (text: string): BodyDescription => ({
  schema: z.string().meta({ description: text, contentMediaType: 'application/x-protobuf' }),
});

export function describeSignal(signal: Signal): IngestDescription {
  const { operationId, summary, name, resources, rejected, example, details } = signal;
  const request = `Export${name}ServiceRequest`;
  const response = `Export${name}ServiceResponse`;
  const exportRequest = z
    .looseObject({ [resources]: z.array(z.looseObject({})).optional() })
    .describe(`${request} as JSON: ${specification}`);
  const service = `${name.toLowerCase()}.v1.${name}Service/Export`;
  return {
    operationId,
    summary,
    details:
      `Accepts an ${request} (${specification}) as protobuf or JSON, with or without ` +
      `gzip, and responds in the same encoding. ${details}Only 429 and 503 may be retried. The ` +
      'same requests are accepted over gRPC at the same address: ' +
      `\`opentelemetry.proto.collector.${service}\`.`,
    request: {
      'application/json': {
        schema: exportRequest,
        examples: { one: { [resources]: example } },
      },
      'application/x-protobuf': bytes(request),
    },
    answers: {
      200: {
        description: 'All records except the rejected ones are durable.',
        content: {
          'application/json': {
            schema: toResponse(rejected),
            examples: { all: {}, some: toPartial(signal) },
          },
          'application/x-protobuf': bytes(response),
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
}

function toResponse(rejected: string) {
  return z.object({
    partialSuccess: z
      .object({
        [rejected]: z.string().optional().describe('A count, as a decimal string.'),
        errorMessage: z.string().optional(),
      })
      .optional()
      .describe('Only if records were rejected or changed.'),
  });
}

function toPartial({ name, rejected }: Signal) {
  const noun = name === 'Logs' ? 'log record' : 'data point';
  return { partialSuccess: { [rejected]: '1', errorMessage: `cannot accept 1 ${noun}: …` } };
}

export const description = describeSignal({
  operationId: 'ingestOtlpLogs',
  summary: 'Send logs by OTLP over HTTP',
  name: 'Logs',
  resources: 'resourceLogs',
  rejected: 'rejectedLogRecords',
  details: '',
  example: [
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
});
