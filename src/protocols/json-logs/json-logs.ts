/** Plain JSON logs (SPEC §4.1): one event or an array of events, answered with counts. */
import type { Config } from '../../config/schema.ts';
import type { Batch } from '../../model/batch.ts';
import type { Protocol } from '../../model/protocol.ts';
import { createJsonLogsDecoder } from './decode.ts';
import { description } from './describe.ts';
import { eventProtocol } from './event-protocol.ts';

/** The body as sent, its rows, and their copy while they are appended to the queue. */
const heapBytesPerBodyByte = 4;

export function createJsonLogs(config: Config): Protocol {
  const decode = createJsonLogsDecoder();
  return {
    ...eventProtocol(config),
    name: 'json_logs',
    http: { path: 'logs', description },
    mediaTypes: [{ name: 'application/json' }],
    codings: ['identity'],
    formatAdvice: 'NDJSON, text lines, logfmt, gzip and zstd belong to …/lines',
    heapBytesPerBodyByte,
    decode: (body, _format, { limits }) => decode(body, limits),
    reply: (batch) => ({ status: 202, contentType: 'application/json', body: toText(batch) }),
  };
}

/**
 * `accepted` counts the accepted events; `rejected` lists the first rejected ones; `warnings`
 * counts events that were stored with a change.
 */
export function toText({ rows, rejected, rejectedCount, warnings }: Batch): string {
  const isChanged = warnings !== undefined && warnings.size > 0;
  if (rejectedCount === 0 && !isChanged) return `{"accepted":${rows}}`;
  return JSON.stringify({
    accepted: rows,
    ...(rejectedCount > 0 && { rejected, rejectedCount }),
    ...(isChanged && {
      warnings: Array.from(warnings, ([reason, count]) => ({ reason, count })),
    }),
  });
}
