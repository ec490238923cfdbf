/** Helpers that decode OTLP logs into rows. */
import assert from 'node:assert/strict';
import type { Batch } from '../../src/model/batch.ts';
import { AppError, type ErrorCode } from '../../src/model/errors.ts';
import { createLogsDecoder, readJsonLogs } from '../../src/protocols/otlp/otlp-logs.ts';
import { readProtobufLogs } from '../../src/protocols/otlp/protobuf-logs.ts';
import { bytesField } from '../harness/proto-wire.ts';
import { type AnyValue, encodeLogsRequest, type KeyValue, type LogRecord } from './otlp-proto.ts';
import { type LogRow, readLogRows } from './read-log-rows.ts';

export const limits = { maxEvents: 1000, maxDepth: 4, maxRejections: 3 };
const decoder = createLogsDecoder();

/** @param body small enough for one slice. */
export function decodeNow(body: Buffer): Batch {
  return settled(decoder(body, readProtobufLogs, limits));
}

/** @param body small enough for one slice. */
export function decodeJsonNow(body: string | Buffer, maxDepth = 64): Batch {
  return settled(decodeJson(body, maxDepth));
}

export function decodeJson(body: string | Buffer, maxDepth = 64): Batch | Promise<Batch> {
  return decoder(Buffer.from(body), readJsonLogs, { ...limits, maxDepth });
}

function settled(batch: Batch | Promise<Batch>): Batch {
  assert.ok(!(batch instanceof Promise));
  return batch;
}

/** @param records JSON of the elements of the list */
export function jsonRequestOf(records: string): string {
  return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records}]}]}]}`;
}

export async function decodeInTurns(body: Buffer): Promise<Batch> {
  return decoder(body, readProtobufLogs, limits);
}

/** A request of one record. */
export function requestOf(record: LogRecord): Buffer {
  return requestOfAll([record]);
}

export function requestOfAll(logRecords: readonly LogRecord[]): Buffer {
  return encodeLogsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
}

/** A request of one log record with these fields. */
export function recordWith(...fields: Buffer[]): Buffer {
  return bytesField(1, bytesField(2, bytesField(2, Buffer.concat(fields))));
}

/** The only row of a request, and its warnings. */
export function rowOf(body: Buffer): { row: LogRow; warnings: Record<string, number> } {
  return onlyRow(decodeNow(body));
}

export function onlyRow(batch: Batch): { row: LogRow; warnings: Record<string, number> } {
  assert.equal(batch.rejectedCount, 0);
  const [row, ...others] = readLogRows(batch.payload);
  assert.ok(row !== undefined && others.length === 0);
  return { row, warnings: Object.fromEntries(batch.warnings ?? []) };
}

export function assertFails(body: Buffer, code: ErrorCode, message: RegExp, name?: string): void {
  assert.throws(
    () => decodeNow(body),
    (error) => error instanceof AppError && error.code === code && message.test(error.message),
    name,
  );
}

export function text(value: string): AnyValue {
  return { stringValue: value };
}

/** A text attribute. */
export function label(key: string, value: string): KeyValue {
  return { key, value: text(value) };
}
