/**
 * The plain JSON log path as a protocol (SPEC §4.1, first row): one object or an array, answered
 * with a count.
 */
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits, Protocol } from '../../model/protocol.ts';
import { createJsonLogsDecoder } from './decode.ts';

export interface JsonLogsOptions {
  readonly maxBodyBytes: number;
  readonly limits: DecodeLimits;
}

/** A body is held once as sent, once as rows, and once more while it is written to the queue. */
const heapBytesPerBodyByte = 4;

export function createJsonLogs(options: JsonLogsOptions): Protocol {
  const decode = createJsonLogsDecoder();
  return {
    name: 'json_logs',
    kind: 'http_json',
    mediaTypes: [{ name: 'application/json' }],
    codings: ['identity'],
    maxBodyBytes: options.maxBodyBytes,
    limits: options.limits,
    heapBytesPerBodyByte,
    bodyCaps: () => ({ travelling: options.maxBodyBytes, inflated: options.maxBodyBytes }),
    decode: (body, _format, { limits }) => decode(toBuffer(body), limits),
    reply: (batch) => ({ status: 202, contentType: 'application/json', body: toText(batch) }),
  };
}

/**
 * `accepted` counts the events taken; `rejected` lists the first of the others with position and
 * reason.
 */
function toText(batch: Batch): string {
  if (batch.rejectedCount === 0) return `{"accepted":${batch.rows}}`;
  const { rows, rejected, rejectedCount } = batch;
  return JSON.stringify({ accepted: rows, rejected, rejectedCount });
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
