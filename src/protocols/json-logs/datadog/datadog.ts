/** Datadog's logs intake, version 2 (https://docs.datadoghq.com/api/latest/logs/#send-logs). */
import { z } from 'zod';
import { repairText } from '../../../codec/body-text.ts';
import { describeRejections } from '../../../codec/rejections.ts';
import type { Config } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import type {
  EncodedProblem,
  IngestDescription,
  Problem,
  Protocol,
  Reply,
  StatusRoute,
} from '../../../model/protocol.ts';
import { createJsonLogsDecoder } from '../decode.ts';
import { openDatadogLogs } from './datadog-events.ts';
import { eventProtocol } from '../event-protocol.ts';

/** The body as sent, its rows, and their copy while they are appended to the queue. */
const heapBytesPerBodyByte = 8;
const json = 'application/json';

const log = z.looseObject({
  message: z.string().optional().describe('Absent = the log is its message, as JSON.'),
  ddtags: z.string().optional().describe('`name:value`, with commas between them.'),
  ddsource: z.string().optional(),
  hostname: z.string().optional(),
  service: z.string().optional(),
  status: z.string().optional().describe('The severity.'),
  timestamp: z.union([z.number(), z.string()]).optional(),
});

const errorList = z.object({
  errors: z.array(z.object({ status: z.string(), title: z.string(), detail: z.string() })),
});

const description: IngestDescription = {
  operationId: 'datadogLogs',
  summary: 'Send logs as to Datadog',
  details:
    'Accepts a log or an array of logs in JSON, plain or in gzip, deflate or zstd. `status` is ' +
    'the severity, `ddtags` become labels. The header `DD-API-KEY` may carry the token. If some ' +
    'logs are invalid, the others are stored and the response has `errors`.',
  request: {
    [json]: {
      schema: z.union([log, z.array(log)]),
      examples: { one: [{ message: 'paid', service: 'shop', ddtags: 'env:prod' }] },
    },
  },
  answers: {
    202: {
      description: 'What is not named in `errors` is durable.',
      content: { [json]: { schema: errorList.partial(), examples: { all: {} } } },
    },
  },
  errors: { [json]: { schema: errorList } },
};

export function createDatadog(config: Config): Protocol {
  const decode = createJsonLogsDecoder(openDatadogLogs, repairText);
  return {
    ...eventProtocol(config),
    name: 'datadog',
    http: {
      path: 'datadog/api/v2/logs',
      prefix: 'datadog',
      tokenPaths: ['/api/v2/logs'],
      statusRoutes: ['datadog/api/v1/validate', '/api/v1/validate'].map(validateRoute),
      description,
    },
    tokenPlace: 'dd-api-key',
    mediaTypes: [{ name: json }],
    heapBytesPerBodyByte,
    decode: (body, _format, { limits }) => decode(body, limits),
    reply,
    encodeProblem: ({ status, title, detail }) => encodeError(status, title, detail),
  };
}

/** Vector asks before it sends whether its key is valid. */
function validateRoute(path: string): StatusRoute {
  return {
    methods: ['GET'],
    path,
    answer: () => ({ status: 200, contentType: json, body: '{"valid":true}' }),
  };
}

/**
 * 202 too if some logs were rejected. Fluent Bit repeats a request that is answered with 400, and
 * the other logs would be stored each time.
 */
function reply(batch: Batch): Reply {
  if (batch.rejectedCount === 0) return { status: 202, contentType: json, body: '{}' };
  const detail = describeRejections(batch, 'logs');
  return { status: 202, ...encodeError(400, 'Bad Request', detail) };
}

function encodeError(
  status: Problem['status'],
  title: string,
  detail: string,
): EncodedProblem & { readonly body: string } {
  const errors = [{ status: String(status), title, detail }];
  return { contentType: json, body: JSON.stringify({ errors }) };
}
