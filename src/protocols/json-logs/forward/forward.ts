/** Fluent Forward (https://github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1). */
import type { Config } from '../../../config/schema.ts';
import type { Protocol } from '../../../model/protocol.ts';
import { createEventsDecoder } from '../decode-events.ts';
import { eventProtocol } from '../event-protocol.ts';
import { openMessages } from './entries.ts';

/** The message, its inflated entries, their rows, and the copy of these for the queue. */
const heapBytesPerBodyByte = 8;

export function createForward(config: Config): Protocol {
  const { maxMessageBytes, maxInflatedBytes, maxEvents } = config.forward;
  const shared = eventProtocol(config);
  const decode = createEventsDecoder(openMessages);
  return {
    ...shared,
    name: 'forward',
    http: undefined,
    mediaTypes: [{ name: 'application/msgpack' }],
    codings: ['identity'],
    maxBodyBytes: maxMessageBytes,
    limits: { ...shared.limits, maxEvents },
    heapBytesPerBodyByte,
    decode: (body, _format, { limits, coverHeap }) =>
      decode({ body, maxInflatedBytes, coverHeap }, limits),
    reply: () => ({ status: 204, contentType: undefined, body: '' }),
  };
}
