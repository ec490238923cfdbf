/** Splunk's HTTP Event Collector: events, raw lines, health and acknowledgements. */
import { z } from 'zod';
import { describeRejections } from '../../../codec/rejections.ts';
import type { Config } from '../../../config/schema.ts';
import type { Batch } from '../../../model/batch.ts';
import { AppError } from '../../../model/errors.ts';
import type {
  StatusRoute,
  EncodedProblem,
  IngestDescription,
  Problem,
  Protocol,
  Reply,
} from '../../../model/protocol.ts';
import type { RequestTarget } from '../../../model/request.ts';
import { createPiecesDecoder } from '../decode-lines.ts';
import { eachPiece } from '../text-lines.ts';
import { openHecEvents } from './hec-events.ts';
import { eventProtocol } from '../event-protocol.ts';

/** The body as sent, lines as events, their rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 8;
const json = 'application/json';
/** Metadata of a raw request are repeated in each line. */
const maxMetadataBytes = 1024;
const noData = 'cannot find an event: the request is empty';

const answer = z.looseObject({ text: z.string(), code: z.int() });
const answers = {
  200: {
    description: 'Everything is durable; `ackId` is acknowledged already.',
    content: {
      [json]: {
        schema: answer,
        examples: { all: { text: 'Success', code: 0, ackId: 1795341600123456 } },
      },
    },
  },
};
const errors = { [json]: { schema: answer } };
const tokens = 'The token follows `Authorization: Splunk`, or is the password of `Basic`.';

const eventDescription: IngestDescription = {
  operationId: 'splunkEvents',
  summary: 'Send events as to Splunk’s HTTP Event Collector',
  details:
    'Accepts events one after another, of any content type, plain or in gzip, deflate or zstd. ' +
    `If some are invalid, the others are stored and the response is 400. ${tokens}`,
  request: {
    [json]: {
      schema: z.looseObject({
        time: z.union([z.number(), z.string()]).optional(),
        host: z.string().optional(),
        source: z.string().optional(),
        sourcetype: z.string().optional(),
        index: z.string().optional(),
        event: z.unknown(),
        fields: z.record(z.string(), z.unknown()).optional(),
      }),
      examples: {
        one: { time: 1795341600.123, host: 'web-1', event: { message: 'paid', severity: 'INFO' } },
      },
    },
  },
  answers,
  errors,
};

const rawDescription: IngestDescription = {
  operationId: 'splunkRaw',
  summary: 'Send lines as to Splunk’s HTTP Event Collector',
  details:
    'Accepts lines of text, each a message. The query parameters `host`, `source`, `sourcetype`, ' +
    `\`index\` and \`time\` belong to all of them. ${tokens}`,
  request: { 'text/plain': { schema: z.string(), examples: { two: 'paid\nshipped\n' } } },
  answers,
  errors,
};

export function createSplunkHec(config: Config): [events: Protocol, raw: Protocol] {
  const decodeEvents = createPiecesDecoder(openHecEvents);
  const decodeLines = createPiecesDecoder();
  const nextAckId = createAckIds();
  const shared = {
    ...eventProtocol(config),
    tokenPlace: 'splunk',
    takesAnyMediaType: true,
    heapBytesPerBodyByte,
    reply: (batch: Batch) => reply(batch, nextAckId()),
    encodeProblem,
  } as const;
  return [
    {
      ...shared,
      name: 'splunk_hec',
      http: {
        path: 'services/collector/event',
        otherPaths: ['services/collector/event/1.0', 'services/collector'],
        prefix: 'services',
        tokenPaths: [
          '/services/collector/event',
          '/services/collector/event/1.0',
          '/services/collector',
        ],
        statusRoutes: statusRoutesBelow('services/collector').concat(
          statusRoutesBelow('/services/collector'),
        ),
        description: eventDescription,
      },
      mediaTypes: [{ name: json }],
      decode: (body, _format, { limits }) => decodeEvents(withData(body), limits),
    },
    {
      ...shared,
      name: 'splunk_raw',
      http: {
        path: 'services/collector/raw',
        otherPaths: ['services/collector/raw/1.0'],
        tokenPaths: ['/services/collector/raw', '/services/collector/raw/1.0'],
        description: rawDescription,
      },
      mediaTypes: [{ name: 'text/plain' }],
      decode: (body, _format, { limits, target }) => {
        const metadata = toMetadata(target);
        return decodeLines(withData(body), limits, (text) => eachPiece(text, 'text', metadata));
      },
    },
  ];
}

function withData(body: Buffer): Buffer {
  if (/\S/.test(body.toString('latin1', 0, 1024)) || body.length > 1024) return body;
  throw new AppError('malformed', noData);
}

/** @throws AppError `malformed` */
function toMetadata(target: RequestTarget | undefined): object {
  const names = ['host', 'source', 'sourcetype', 'index'];
  const given = names.map((name) => [name, target?.query.get(name) ?? undefined] as const);
  const metadata = {
    ...Object.fromEntries(given),
    timestamp: target?.query.get('time') ?? undefined,
  };
  if (JSON.stringify(metadata).length > maxMetadataBytes) {
    throw new AppError(
      'malformed',
      `cannot accept query parameters of over ${maxMetadataBytes} bytes: they are stored with ` +
        'each line',
    );
  }
  return metadata;
}

/** Unique among the processes that serve one client, since it counts microseconds. */
function createAckIds(): () => number {
  let last = 0;
  return () => (last = Math.max(last + 1, Date.now() * 1000));
}

/** 200, or 400 if events were rejected: senders do not retry it. */
function reply(batch: Batch, ackId: number): Reply {
  if (batch.rejectedCount === 0) return toReply(200, { text: 'Success', code: 0, ackId });
  const text = describeRejections(batch, 'events');
  return toReply(400, { text, code: 6, 'invalid-event-number': batch.rejected[0]?.index ?? 0 });
}

function statusRoutesBelow(path: string): StatusRoute[] {
  const health = (suffix: string): StatusRoute => ({
    methods: ['GET', 'HEAD'],
    path: `${path}/health${suffix}`,
    isPublic: true,
    answer: () => toReply(200, { text: 'HEC is healthy', code: 17 }),
  });
  // Docker asks whether its address takes events before it starts a container.
  const check: StatusRoute = {
    methods: ['OPTIONS'],
    path: `${path}/event/1.0`,
    isPublic: true,
    answer: () => ({ status: 200, contentType: undefined, body: '' }),
  };
  const ack = (suffix: string): StatusRoute => ({
    methods: ['POST'],
    path: `${path}/ack${suffix}`,
    answer: (_target, body) => toReply(200, { acks: acknowledge(body) }),
  });
  return [health(''), health('/1.0'), check, ack(''), ack('/1.0')];
}

/** Events are durable before their id is sent, so that every id is acknowledged. */
function acknowledge(body: Buffer): Record<string, boolean> {
  const asked = askedAcks.safeParse(parseJson(body));
  if (asked.success) return Object.fromEntries(asked.data.acks.map((id) => [id, true]));
  throw new AppError('malformed', 'cannot read the request: send {"acks": [<ackId>, …]}');
}

const askedAcks = z.object({ acks: z.array(z.int()) });

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    // The caller says what is expected.
    return undefined;
  }
}

/** Codes that clients know (Splunk's "Possible error codes"). */
const codes: Readonly<Record<string, number>> = {
  unauthenticated: 3,
  forbidden: 4,
  malformed: 6,
  unsupported_media: 6,
  too_large: 27,
  quota_exceeded: 26,
  unavailable: 9,
};

function encodeProblem({ code, detail }: Problem): EncodedProblem {
  const number = detail === noData ? 5 : (codes[code] ?? 8);
  return { contentType: json, body: JSON.stringify({ text: detail, code: number }) };
}

function toReply(status: number, content: object): Reply {
  return { status, contentType: json, body: JSON.stringify(content) };
}
