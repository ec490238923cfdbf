/** Syslog messages of a connection or of datagrams, as a body of octet-counted messages. */
import type { Config } from '../../../config/schema.ts';
import type { Protocol } from '../../../model/protocol.ts';
import { createEventsDecoder } from '../decode-events.ts';
import { eventProtocol } from '../event-protocol.ts';
import { TimeZone } from './local-time.ts';
import { MessageSlots, openMessages } from './message-slots.ts';

/** Messages, their texts, their rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 8;
const mebibyte = 1024 * 1024;

export function createSyslog(config: Config): Protocol {
  const { maxMessageBytes, timeZone } = config.syslog;
  const zone = new TimeZone(timeZone);
  const maxBodyBytes = Math.max(4 * mebibyte, 2 * maxMessageBytes);
  const messages = new MessageSlots(maxMessageBytes);
  const decode = createEventsDecoder(openMessages);
  return {
    ...eventProtocol(config),
    name: 'syslog',
    http: undefined,
    mediaTypes: [{ name: 'application/syslog' }],
    codings: ['identity'],
    maxBodyBytes,
    heapBytesPerBodyByte,
    decode: (body, _format, { limits, nowMs }) => decode({ body, nowMs, zone, messages }, limits),
    reply: () => ({ status: 204, contentType: undefined, body: '' }),
  };
}
