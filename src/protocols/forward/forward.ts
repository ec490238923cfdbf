/** Fluent Forward (https://github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1). */
import { maxListedRejections } from '../../codec/rejections.ts';
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits, Protocol } from '../../model/protocol.ts';
import { eachEventPiece } from './entries.ts';

/** The message, its inflated entries, their JSON, their rows, and the copy for the queue. */
const heapBytesPerBodyByte = 8;

export function createForward(
  { forward, ingest }: Config,
  decodeEvents: (pieces: Iterator<Buffer>, limits: DecodeLimits) => Batch | Promise<Batch>,
): Protocol {
  const { maxMessageBytes, maxInflatedBytes, maxEvents } = forward;
  return {
    name: 'forward',
    kind: 'http_json',
    http: undefined,
    mediaTypes: [{ name: 'application/msgpack' }],
    codings: ['identity'],
    maxBodyBytes: maxMessageBytes,
    limits: { maxEvents, maxDepth: ingest.jsonMaxDepth, maxRejections: maxListedRejections },
    heapBytesPerBodyByte,
    bodyCaps: () => ({ travelling: maxMessageBytes, inflated: maxMessageBytes }),
    decode: (body, _format, { limits }) =>
      decodeEvents(eachEventPiece(body, { ...limits, maxInflatedBytes }), limits),
    reply: () => ({ status: 204, contentType: undefined, body: '' }),
  };
}
