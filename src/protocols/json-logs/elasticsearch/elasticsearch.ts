/** Elasticsearch's bulk API, for clients that send logs, and what these ask before. */
import { z } from 'zod';
import type { Config } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import type {
  EncodedProblem,
  IngestDescription,
  Problem,
  Protocol,
  Reply,
} from '../../../model/protocol.ts';
import { createBulkDecoder } from './bulk-decoder.ts';
import { createHandshake, productHeader } from './handshake.ts';
import { eventProtocol } from '../event-protocol.ts';

/** The body as sent, its rows and items, and the copy of the rows for the queue. */
const heapBytesPerBodyByte = 6;
const json = 'application/json';
const ndjson = 'application/x-ndjson';
const version = { 'compatible-with': ['7', '8', '9'] };

const description: IngestDescription = {
  operationId: 'elasticsearchBulk',
  summary: 'Send logs as to Elasticsearch',
  details:
    'Accepts `create` and `index` actions, each with a document, plain or in gzip, deflate or ' +
    'zstd. The index becomes the label `_index`. Documents have the fields of ECS or of `/logs`; ' +
    'one without a message is its own message. Other actions, and documents that cannot be read, ' +
    'are rejected alone: their items have an error. The token may be the key of ' +
    '`Authorization: ApiKey`, or the password of `Basic`.',
  request: {
    [ndjson]: {
      schema: z.string(),
      examples: {
        one: '{"create":{"_index":"logs-shop-default"}}\n{"message":"paid","log.level":"info"}\n',
      },
    },
    [json]: { schema: z.string() },
  },
  answers: {
    200: {
      description: 'The documents with status 201 are durable.',
      content: {
        [json]: {
          schema: z.looseObject({
            took: z.int(),
            errors: z.boolean(),
            items: z.array(z.record(z.string(), z.looseObject({ status: z.int() }))),
          }),
          examples: {
            one: {
              took: 0,
              errors: false,
              items: [{ create: { _index: 'logs-shop-default', result: 'created', status: 201 } }],
            },
          },
        },
      },
    },
  },
  errors: {
    [json]: {
      schema: z.looseObject({
        error: z.looseObject({ type: z.string(), reason: z.string() }),
        status: z.int(),
      }),
    },
  },
};

export function createElasticsearch(config: Config): Protocol {
  const decode = createBulkDecoder();
  return {
    ...eventProtocol(config),
    name: 'elasticsearch',
    http: {
      path: 'elasticsearch/_bulk',
      otherPaths: ['elasticsearch/:index/_bulk'],
      takesPut: true,
      prefix: 'elasticsearch',
      tokenPaths: [
        '/elasticsearch/_bulk',
        '/elasticsearch/:index/_bulk',
        '/_bulk',
        '/:index/_bulk',
      ],
      statusRoutes: createHandshake(['elasticsearch', '/elasticsearch', '']),
      description,
    },
    tokenPlace: 'api-key',
    mediaTypes: [
      { name: ndjson },
      { name: json },
      { name: 'application/vnd.elasticsearch+x-ndjson', parameters: version },
      { name: 'application/vnd.elasticsearch+json', parameters: version },
    ],
    heapBytesPerBodyByte,
    decode: (body, _format, { limits, target }) => decode(body, target?.path['index'], limits),
    reply,
    encodeProblem,
  };
}

function reply({ rejectedCount, items = '' }: Batch): Reply {
  return {
    status: 200,
    contentType: json,
    body: `{"took":0,"errors":${rejectedCount > 0},"items":[${items}]}`,
    headers: productHeader,
  };
}

const errorTypes: Readonly<Record<string, string>> = {
  unauthenticated: 'security_exception',
  forbidden: 'security_exception',
  not_found: 'resource_not_found_exception',
  unsupported_media: 'media_type_header_exception',
  too_large: 'content_too_long_exception',
  quota_exceeded: 'es_rejected_execution_exception',
  unavailable: 'es_rejected_execution_exception',
};

function encodeProblem({ status, code, detail }: Problem): EncodedProblem {
  const error = { type: errorTypes[code] ?? 'illegal_argument_exception', reason: detail };
  return {
    contentType: json,
    body: JSON.stringify({ error: { root_cause: [error], ...error }, status }),
  };
}
