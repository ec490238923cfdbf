/** Loki's push API: streams of entries, in JSON or in protobuf with snappy. */
import { z } from 'zod';
import { repairText } from '../../../codec/body-text.ts';
import { describeRejections } from '../../../codec/rejections.ts';
import type { Config } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import { AppError } from '../../../model/errors.ts';
import type {
  BodyFormat,
  EncodedProblem,
  IngestDescription,
  Problem,
  Protocol,
  Reply,
  StatusRoute,
  Unframed,
} from '../../../model/protocol.ts';
import { createEventsDecoder, type OpenEvents } from '../decode-events.ts';
import { EventBatch } from '../event-batch.ts';
import { eventProtocol } from '../event-protocol.ts';
import { EntrySlots } from './loki-entry.ts';
import { eachJsonEntry } from './loki-json.ts';
import { eachProtobufEntry, openPushRequest } from './loki-protobuf.ts';

/** The body as sent, entries as events, their rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 8;
const json = 'application/json';
const protobuf = 'application/x-protobuf';
const plainText = 'text/plain; charset=utf-8';

const pushRequest = z.looseObject({
  streams: z.array(
    z.looseObject({
      stream: z.record(z.string(), z.string()).describe('Labels.'),
      values: z
        .array(z.array(z.unknown()))
        .describe('Each `[time, line]` or `[time, line, metadata]`; the time in ns, as text.'),
    }),
  ),
});

const description: IngestDescription = {
  operationId: 'lokiPush',
  summary: 'Send streams of logs as to Loki',
  details:
    'Accepts Loki’s `logproto.PushRequest` as one snappy block, or its JSON, plain or in gzip or ' +
    'deflate. Labels and structured metadata become labels; `service_name`, else `service`, ' +
    '`app` or `job` is the service, `level` or `detected_level` the severity. If some entries ' +
    'are invalid, the others are stored and the response is 400. The token may be the password ' +
    'of `Authorization: Basic`, with any user.',
  request: {
    [json]: {
      schema: pushRequest,
      examples: {
        one: { streams: [{ stream: { app: 'shop' }, values: [['1795341600123000000', 'paid']] }] },
      },
    },
    [protobuf]: {
      schema: z.string().meta({
        description: 'logproto.PushRequest, snappy block format',
        contentMediaType: protobuf,
      }),
    },
  },
  answers: { 204: { description: 'Everything is durable.' } },
  errors: { 'text/plain': { schema: z.string() } },
};

export function createLoki(config: Config): Protocol {
  const decodeJson = createEventsDecoder(openJson);
  const decodeProtobuf = createEventsDecoder(openProtobuf);
  return {
    ...eventProtocol(config),
    name: 'loki',
    http: {
      path: 'loki/api/v1/push',
      prefix: 'loki',
      tokenPaths: ['/loki/api/v1/push'],
      statusRoutes: ['ready', '/ready'].map(readyRoute),
      description,
    },
    tokenPlace: 'basic',
    mediaTypes: [{ name: json }, { name: protobuf }],
    codings: ['identity', 'gzip', 'deflate', 'snappy'],
    formatAdvice: 'protobuf always in snappy, JSON never',
    heapBytesPerBodyByte,
    unframe,
    decode: (body, { mediaType }, { limits }) =>
      (mediaType === protobuf ? decodeProtobuf : decodeJson)(body, limits),
    reply,
    encodeProblem,
  };
}

/** Vector asks before it sends. */
function readyRoute(path: string): StatusRoute {
  return {
    methods: ['GET', 'HEAD'],
    path,
    isPublic: true,
    answer: () => ({ status: 200, contentType: plainText, body: 'ready\n' }),
  };
}

/** Protobuf is in snappy whether or not the sender names it. */
function unframe(message: Buffer, { mediaType, coding }: BodyFormat): Unframed {
  if (mediaType === json && coding !== 'snappy') return { message, coding };
  if (mediaType === protobuf && (coding === 'snappy' || coding === 'identity')) {
    return { message, coding: 'snappy' };
  }
  throw new AppError(
    'unsupported_media',
    `cannot accept ${mediaType} in ${coding}: send protobuf in snappy, or JSON plain, in gzip ` +
      'or in deflate',
  );
}

/** 204, or 400 as of Loki if entries were rejected: senders do not retry it. */
function reply(batch: Batch): Reply {
  if (batch.rejectedCount === 0) return { status: 204, contentType: undefined, body: '' };
  const body = `${describeRejections(batch, 'entries')}\n`;
  return { status: 400, contentType: plainText, body };
}

function encodeProblem({ detail }: Problem): EncodedProblem {
  return { contentType: plainText, body: `${detail}\n` };
}

/** Labels of a stream are stored with each of its entries. */
const entryBytesPerBodyByte = 16;
const mebibyte = 1024 * 1024;
const minEntryBytes = 16 * mebibyte;
const maxEntryBytes = 128 * mebibyte;

const openJson: OpenEvents<Buffer> = (body, workspace, limits) => {
  const text = repairText(body);
  const { bytes } = text;
  const entry = new EntrySlots(bytes, workspace.slots, limits.maxDepth);
  const batch = new EventBatch(bytes, workspace, limits);
  batch.warnOf(text);
  return { batch, events: eachJsonEntry(bytes, entry), maxBytes: maxBytesOf(body) };
};

const openProtobuf: OpenEvents<Buffer> = (body, workspace, limits) => {
  const request = openPushRequest(body, limits.maxEvents);
  const entry = new EntrySlots(request.bytes, workspace.slots, limits.maxDepth);
  const batch = new EventBatch(request.bytes, workspace, limits);
  return { batch, events: eachProtobufEntry(request, entry), maxBytes: maxBytesOf(body) };
};

function maxBytesOf(body: Buffer): number {
  const wanted = Math.max(body.length * entryBytesPerBodyByte, minEntryBytes);
  return Math.min(wanted, maxEntryBytes);
}
