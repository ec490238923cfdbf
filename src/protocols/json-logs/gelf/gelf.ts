/**
 * GELF 1.1 (https://go2docs.graylog.org/current/getting_in_log_data/gelf.html) over HTTP, as
 * Graylog takes it: a message in each request, or several one after another.
 */
import { z } from 'zod';
import { openBrace, quote, skipValue } from '../../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import type { Config } from '../../../config/schema.ts';
import type { IngestDescription, Protocol } from '../../../model/protocol.ts';
import { createPiecesDecoder } from '../decode-lines.ts';
import { type EventSlots, field } from '../event-fields.ts';
import { acceptedAnswer, eventProtocol } from '../event-protocol.ts';
import { EventReader, type OpenReader, plainEvents } from '../event-reader.ts';
import { toText } from '../json-logs.ts';
import { walkMembers } from '../json-walk.ts';

/** The body as sent, its rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 4;
const json = 'application/json';

const message = z.looseObject({
  version: z.string().optional(),
  host: z.string().optional(),
  short_message: z.string(),
  full_message: z.string().optional(),
  timestamp: z.number().optional().describe('Seconds, with a fraction.'),
  level: z.int().optional().describe('A severity of syslog, 0 to 7.'),
});

const description: IngestDescription = {
  operationId: 'gelf',
  summary: 'Send messages in GELF',
  details:
    'Accepts a message of GELF 1.1, or several one after another, of any content type, plain or ' +
    'in gzip, deflate or zstd. Additional fields become labels, without their underscore.',
  request: {
    [json]: {
      schema: message,
      examples: {
        one: { version: '1.1', host: 'web-1', short_message: 'paid', level: 6, _user: '7' },
      },
    },
  },
  answers: {
    202: acceptedAnswer('Everything counted in `accepted` is durable.', 1),
  },
};

export function createGelf(config: Config): Protocol {
  const decode = createPiecesDecoder(openGelfMessages);
  return {
    ...eventProtocol(config),
    name: 'gelf',
    http: { path: 'gelf', tokenPaths: ['/gelf'], description },
    tokenPlace: 'basic',
    mediaTypes: [{ name: json }],
    takesAnyMediaType: true,
    // Python's handlers name both and send zlib.
    codingAliases: { 'gzip,deflate': 'deflate' },
    heapBytesPerBodyByte,
    decode: (body, _format, { limits }) => decode(body, limits),
    reply: (batch) => ({ status: 202, contentType: json, body: toText(batch) }),
  };
}

const underscore = 0x5f;
const versionTable = createKeyTable(['version']);
/** An additional field of such a name keeps its underscore. */
const standardTable = createKeyTable([
  'version',
  'host',
  'short_message',
  'full_message',
  'timestamp',
  'level',
  'facility',
  'line',
  'file',
]);

/** Fields of JSON events of which another value rejects the event, while GELF allows numbers. */
const textTable = createKeyTable(['message', 'severity', 'service_name', 'service_namespace']);
const objectTable = createKeyTable(['labels']);

/** @param first byte of the value of a name */
function isRejected(first: number, name: { source: Buffer; start: number; end: number }): boolean {
  const { source, start, end } = name;
  if (first !== quote && findKey(textTable, source, start, end) >= 0) return true;
  return first !== openBrace && findKey(objectTable, source, start, end) >= 0;
}

/** Additional fields are those of JSON events, without their underscore. */
const openGelfMessages: OpenReader = (bytes, slots, maxDepth) => {
  const reader = new EventReader(bytes, slots, maxDepth, plainEvents);
  return (at) => {
    reader.clear();
    const messageEnd = walkMembers(bytes, at, (source, start, end, valueAt) => {
      if (source[start] === underscore && findKey(standardTable, source, start + 1, end) < 0) {
        start += 1;
        return isRejected(bytes[valueAt]!, { source, start, end })
          ? reader.readLabel(source, start, end, valueAt)
          : reader.readValue(source, start, end, valueAt);
      }
      if (findKey(versionTable, source, start, end) < 0) {
        return reader.readValue(source, start, end, valueAt);
      }
      return skipValue(bytes, valueAt, maxDepth - 1);
    });
    slots.fault = faultOf(slots);
    return messageEnd;
  };
};

function faultOf(slots: EventSlots): string {
  if (slots.isString(field.shortMessage)) return '';
  if (!slots.isAbsent(field.shortMessage)) return 'short_message is not a string';
  return slots.isAbsent(field.message) ? 'short_message is missing' : '';
}
