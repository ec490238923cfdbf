/** Reads an `ExportLogsServiceRequest` from JSON bytes into a batch. */
import type { DecodeLimits } from '../../model/protocol.ts';
import type { Slices } from './decode.ts';
import { toProtobuf } from './json-to-protobuf.ts';
import type { LogBatch } from './log-batch.ts';
import { maxRowBytes } from './log-row.ts';
import { logsRequest } from './messages.ts';
import { readProtobufLogs } from './protobuf-logs.ts';
import { maxElements } from './value-text.ts';

/** @param batch started */
export function* readJsonLogs(body: Buffer, batch: LogBatch, limits: DecodeLimits): Slices {
  const message = yield* toProtobuf(body, logsRequest, batch.warnings, {
    maxDepth: limits.maxDepth,
    maxMessageBytes: maxRowBytes,
    maxElements,
  });
  yield* readProtobufLogs(message, batch, { ...limits, hasValidText: true });
}
