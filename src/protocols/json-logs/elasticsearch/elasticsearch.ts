/**
 * Elasticsearch's APIs of bulk requests and of single documents, for clients that send logs, and
 * what these ask before.
 */
import { randomBytes } from 'node:crypto';
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
import { AppError } from '../../../model/errors.ts';
import type { RequestTarget } from '../../../model/request.ts';
import { createBulkDecoder } from './bulk-decoder.ts';
import { createHandshake, productHeader } from './handshake.ts';
import { eventProtocol } from '../event-protocol.ts';

/** The body as sent, its rows and items, and the copy of the rows for the queue. */
const heapBytesPerBodyByte = 6;
/** Its body is copied into a bulk request. */
const heapBytesPerDocumentByte = heapBytesPerBodyByte + 1;
const newline = 0x0a;
const space = 0x20;
const json = 'application/json';
const ndjson = 'application/x-ndjson';
const version = { 'compatible-with': ['7', '8', '9'] };

const errors: IngestDescription['errors'] = {
  [json]: {
    schema: z.looseObject({
      error: z.looseObject({ type: z.string(), reason: z.string() }),
      status: z.int(),
    }),
  },
};

const bulkDescription: IngestDescription = {
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
  errors,
};

const documentDescription: IngestDescription = {
  operationId: 'elasticsearchDocument',
  summary: 'Send one log as to Elasticsearch',
  details:
    'Accepts one document, as in a bulk request. The index becomes the label `_index`, an id in ' +
    'the path the label `_id`. A repeated id is stored again.',
  request: {
    [json]: {
      schema: z.looseObject({}),
      examples: { one: { message: 'paid', 'log.level': 'info' } },
    },
  },
  answers: {
    201: {
      description: 'The document is durable. Without an id in the path `_id` is random.',
      content: {
        [json]: {
          schema: z.looseObject({ _index: z.string(), _id: z.string(), result: z.string() }),
          examples: { one: created('logs-shop', 'x1') },
        },
      },
    },
  },
  errors,
};

export function createElasticsearch(config: Config): [bulk: Protocol, document: Protocol] {
  const decodeBulk = createBulkDecoder();
  const shared = { ...eventProtocol(config), tokenPlace: 'api-key', encodeProblem } as const;
  return [
    {
      ...shared,
      name: 'elasticsearch',
      http: {
        ...routesOf(['_bulk', ':index/_bulk']),
        prefix: 'elasticsearch',
        statusRoutes: createHandshake(['elasticsearch', '/elasticsearch', '']),
        description: bulkDescription,
      },
      mediaTypes: [
        { name: ndjson },
        { name: json },
        { name: 'application/vnd.elasticsearch+x-ndjson', parameters: version },
        { name: 'application/vnd.elasticsearch+json', parameters: version },
      ],
      heapBytesPerBodyByte,
      decode: (body, _format, { limits, target }) =>
        decodeBulk(body, target?.path['index'], limits),
      reply: replyToBulk,
    },
    {
      ...shared,
      name: 'elasticsearch_document',
      http: {
        ...routesOf([':index/_doc', ':index/_doc/:id', ':index/_create/:id']),
        description: documentDescription,
      },
      mediaTypes: [
        { name: json },
        { name: 'application/vnd.elasticsearch+json', parameters: version },
      ],
      heapBytesPerBodyByte: heapBytesPerDocumentByte,
      async decode(body, _format, { limits, target }) {
        const batch = await decodeBulk(toBulk(body, target), target?.path['index'], limits);
        const [rejection] = batch.rejected;
        if (rejection === undefined) return batch;
        throw new AppError('malformed', `cannot store the document: ${rejection.reason}`);
      },
      reply: (_batch, _format, target) => replyToDocument(target),
    },
  ];
}

/** @param paths below the address that clients have as their URL */
function routesOf(paths: readonly string[]) {
  const [path = '', ...otherPaths] = paths.map((one) => `elasticsearch/${one}`);
  const tokenPaths = ['/elasticsearch', ''].flatMap((base) =>
    paths.map((one) => `${base}/${one}` as `/${string}`),
  );
  return { path, otherPaths, takesPut: true, tokenPaths } as const;
}

/** One action with the document, whose line breaks are between its tokens. */
function toBulk(document: Buffer, target: RequestTarget | undefined): Buffer {
  const action = Buffer.from(`${JSON.stringify({ create: { _id: target?.path['id'] } })}\n`);
  const bulk = Buffer.concat([action, document]);
  for (let at = action.length; (at = bulk.indexOf(newline, at)) >= 0; ) bulk[at] = space;
  return bulk;
}

function replyToBulk({ rejectedCount, items = '' }: Batch): Reply {
  return {
    status: 200,
    contentType: json,
    body: `{"took":0,"errors":${rejectedCount > 0},"items":[${items}]}`,
    headers: productHeader,
  };
}

/** Clients expect an id; it has the form of those that Elasticsearch generates. */
function replyToDocument(target: RequestTarget | undefined): Reply {
  const { index = '', id = randomBytes(15).toString('base64url') } = target?.path ?? {};
  const body = JSON.stringify(created(index, id));
  return { status: 201, contentType: json, body, headers: productHeader };
}

function created(index: string, id: string) {
  const shards = { total: 1, successful: 1, failed: 0 };
  return { _index: index, _id: id, _version: 1, result: 'created', _shards: shards };
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
