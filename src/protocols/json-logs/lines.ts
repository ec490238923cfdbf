/** Events one after another, as files and loggers have them, on a route beside that of the spec. */
import { z } from 'zod';
import { repairText } from '../../codec/body-text.ts';
import type { Config } from '../../config/schema.ts';
import type { IngestDescription, Protocol } from '../../model/protocol.ts';
import { createJsonLogsDecoder } from './decode.ts';
import { createPiecesDecoder } from './decode-lines.ts';
import { openTolerantEvents } from './event-reader.ts';
import { toText } from './json-logs.ts';
import { eachPiece, type LineFormat } from './text-lines.ts';
import { acceptedAnswer, eventProtocol } from './event-protocol.ts';

/** The body as sent, lines as JSON, their rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 8;

const formats: Readonly<Record<string, LineFormat | 'json'>> = {
  'application/x-ndjson': 'json',
  'application/ndjson': 'json',
  'application/jsonl': 'json',
  'application/json-seq': 'json',
  'application/json': 'json',
  'text/plain': 'text',
  'application/logfmt': 'logfmt',
  'text/logfmt': 'logfmt',
};

/** After a byte order mark. */
const arrayStart = /^(?:\xef\xbb\xbf)?\s*\[/;

const body = z.string().describe('One event in each line.');

const description: IngestDescription = {
  operationId: 'sendLines',
  summary: 'Send log events one after another',
  details:
    'Accepts JSON values one after another (NDJSON), an array of them, lines of text, or logfmt, ' +
    'by content type; gzip, deflate and zstd. Events have the fields of `/logs`; one without a ' +
    'message is its own message, as JSON. An event that cannot be read is rejected with the ' +
    'number of its line, and the others are stored. The token may be the password of ' +
    '`Authorization: Basic`, with any user. With `?status=202` the status is that of ' +
    '`/logs`.',
  request: Object.fromEntries(Object.keys(formats).map((type) => [type, { schema: body }])),
  answers: {
    200: acceptedAnswer('The accepted events are durable; `rejected` lists the others.', 2),
  },
};

export function createLines(config: Config): Protocol {
  const decodePieces = createPiecesDecoder(openTolerantEvents);
  const decodeDocument = createJsonLogsDecoder(openTolerantEvents, repairText);
  return {
    ...eventProtocol(config),
    name: 'lines',
    http: { path: 'lines', description },
    tokenPlace: 'basic',
    mediaTypes: Object.keys(formats).map((name) => ({ name })),
    heapBytesPerBodyByte,
    decode: (bytes, { mediaType }, { limits }) => {
      const format = formats[mediaType]!;
      if (format !== 'json') return decodePieces(bytes, limits, (text) => eachPiece(text, format));
      const isArray = arrayStart.test(bytes.toString('latin1', 0, 100));
      return (isArray ? decodeDocument : decodePieces)(bytes, limits);
    },
    reply: (batch, _format, target) => ({
      // Some senders take the 202 of `/logs` for a failure, and others expect it.
      status: target?.query.get('status') === '202' ? 202 : 200,
      contentType: 'application/json',
      body: toText(batch),
    }),
  };
}
