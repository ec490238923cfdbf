/** InfluxDB's write API, versions 1 and 2, for metrics. */
import { z } from 'zod';
import { decodeLimits } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type {
  StatusRoute,
  EncodedProblem,
  IngestDescription,
  Problem,
  Protocol,
  Reply,
} from '../../model/protocol.ts';
import { createInfluxDecoder } from './decode.ts';

/** The inflated body, its samples in the writer, the payload and the queue's copy of it. */
const heapBytesPerBodyByte = 8;
const json = 'application/json';
const text = 'text/plain';
const failure = z.looseObject({ code: z.string(), message: z.string(), error: z.string() });

const description: IngestDescription = {
  operationId: 'influxWrite',
  summary: 'Send metrics in InfluxDB’s line protocol',
  details:
    'Each field of a line is a sample of the series `measurement_field`, with the tags as ' +
    'labels; booleans are 1 and 0, texts are not stored. The query parameter `precision` is that ' +
    'of times: ns (default), us, ms, s, m or h; `db` becomes a label. If some lines are invalid, ' +
    'the others are stored and the response is 400. The token follows `Authorization: Token`, or ' +
    'is the password of `Basic`.',
  request: {
    [text]: {
      schema: z.string(),
      examples: { one: 'cpu,host=web-1 usage_user=12.5,usage_system=3i 1795341600123000000\n' },
    },
  },
  answers: { 204: { description: 'Every sample is durable.' } },
  errors: { [json]: { schema: failure } },
};

export function createInflux({ ingest, metrics }: Config): Protocol {
  const { remoteWriteMaxBodyBytes: maxBodyBytes, remoteWriteMaxSamples } = ingest;
  const decode = createInfluxDecoder({ labels: metrics, maxLabelBytes: 2 * maxBodyBytes });
  return {
    name: 'influx',
    kind: 'prometheus',
    http: {
      path: 'influx/api/v2/write',
      otherPaths: ['influx/write'],
      prefix: 'influx',
      tokenPaths: ['/api/v2/write', '/write'],
      statusRoutes: [...statusRoutesBelow('influx'), ...statusRoutesBelow('')],
      description,
    },
    tokenPlace: 'token',
    mediaTypes: [{ name: text }],
    takesAnyMediaType: true,
    codings: ['identity', 'gzip'],
    maxBodyBytes,
    limits: decodeLimits(remoteWriteMaxSamples),
    heapBytesPerBodyByte,
    decode: (body, _format, context) => decode(body, context),
    reply,
    encodeProblem,
  };
}

/** Clients ask for a version, and Telegraf creates its database. */
function statusRoutesBelow(path: string): StatusRoute[] {
  return [
    {
      methods: ['GET', 'HEAD'],
      path: `${path}/ping`,
      isPublic: true,
      answer: () => ({
        status: 204,
        contentType: undefined,
        body: '',
        headers: { 'x-influxdb-version': 'weir' },
      }),
    },
    {
      methods: ['POST'],
      path: `${path}/query`,
      answer: () => ({ status: 200, contentType: json, body: '{"results":[{"statement_id":0}]}' }),
    },
  ];
}

/** 204, or 400 if lines were rejected: clients do not send it again. */
function reply({ rows, rejected, rejectedCount }: Batch): Reply {
  if (rejectedCount === 0) return { status: 204, contentType: undefined, body: '' };
  const message =
    `cannot store ${rejectedCount} lines or samples, the other ${rows} samples are stored; ` +
    `the first: ${rejected[0]?.reason ?? ''}`;
  return { status: 400, contentType: json, body: encodeError('invalid', message) };
}

/** Codes of InfluxDB 2. */
const codes: Readonly<Record<string, string>> = {
  unauthenticated: 'unauthorized',
  forbidden: 'forbidden',
  not_found: 'not found',
  malformed: 'invalid',
  unsupported_media: 'unsupported media type',
  too_large: 'request too large',
  quota_exceeded: 'too many requests',
  unavailable: 'unavailable',
};

function encodeProblem({ code, detail }: Problem): EncodedProblem {
  return { contentType: json, body: encodeError(codes[code] ?? 'internal error', detail) };
}

/** Version 2 reads `message`, version 1 `error`. */
function encodeError(code: string, message: string): string {
  return JSON.stringify({ code, message, error: message });
}
