/**
 * Reads `opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest` from protobuf bytes into
 * a batch
 * (https://github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/logs/v1/logs.proto).
 * Resources and scopes may follow their records, so that the messages with them are read twice.
 */
import { AppError } from '../../model/errors.ts';
import { ProtobufWire, toTag, wireType } from '../../codec/protobuf-wire.ts';
import type { Slices } from '../../codec/sliced-decoder.ts';
import type { LogBatch } from './log-batch.ts';
import { logWarnings, type TextSlot, type TimeSlot } from './log-record.ts';
import { maxRowBytes } from './log-row.ts';
import { ProtobufValues, type ValuesOptions } from './protobuf-values.ts';

/** Cost of a turn in bytes read, and of a single field. */
const turnCost = 512 * 1024;
const fieldCost = 64;

const { varint, fixed64, bytes, fixed32 } = wireType;

const requestTags = { resourceLogs: toTag(1, bytes) };
const resourceLogsTags = {
  resource: toTag(1, bytes),
  scopeLogs: toTag(2, bytes),
  schemaUrl: toTag(3, bytes),
};
const resourceTags = { attributes: toTag(1, bytes), dropped: toTag(2, varint) };
const scopeLogsTags = {
  scope: toTag(1, bytes),
  logRecords: toTag(2, bytes),
  schemaUrl: toTag(3, bytes),
};
const scopeTags = {
  name: toTag(1, bytes),
  version: toTag(2, bytes),
  attributes: toTag(3, bytes),
  dropped: toTag(4, varint),
};
const recordTags = {
  time: toTag(1, fixed64),
  severityNumber: toTag(2, varint),
  severityText: toTag(3, bytes),
  body: toTag(5, bytes),
  attributes: toTag(6, bytes),
  dropped: toTag(7, varint),
  flags: toTag(8, fixed32),
  traceId: toTag(9, bytes),
  spanId: toTag(10, bytes),
  observedTime: toTag(11, fixed64),
  eventName: toTag(12, bytes),
};
/** Field numbers of records: in spans and metrics they have other types. */
const recordFields = new Set(Object.values(recordTags).map((tag) => tag >>> 3));

/** @param batch started @throws AppError `malformed` | `too_large` */
export function readProtobufLogs(
  body: Buffer,
  batch: LogBatch,
  options: ValuesOptions,
): Slices<void> {
  return new ProtobufLogsReader(body, batch, options).read();
}

class ProtobufLogsReader {
  readonly #wire: ProtobufWire;
  readonly #values: ProtobufValues;
  readonly #batch: LogBatch;
  /** Cost of the current turn so far. */
  #cost = 0;

  constructor(body: Buffer, batch: LogBatch, options: ValuesOptions) {
    this.#wire = new ProtobufWire(body);
    this.#values = new ProtobufValues(this.#wire, batch.warnings, options);
    this.#batch = batch;
  }

  *read(): Slices<void> {
    const wire = this.#wire;
    const end = wire.bytes.length;
    while (wire.at < end) {
      if (this.#isTurnOver()) yield;
      const tag = wire.tag(end);
      if (tag === requestTags.resourceLogs) yield* this.#readResourceLogs(wire.lengthEnd(end));
      else wire.skip(tag, end);
    }
  }

  /** Counts a field. */
  #isTurnOver(): boolean {
    this.#cost += fieldCost;
    if (this.#cost < turnCost && !this.#batch.isTurnOver) return false;
    this.#cost = 0;
    this.#batch.startTurn();
    return true;
  }

  *#readResourceLogs(end: number): Slices<void> {
    const wire = this.#wire;
    const start = wire.at;
    this.#batch.startResource();
    const { resource } = this.#batch;
    while (wire.at < end) {
      if (this.#isTurnOver()) yield;
      const tag = wire.tag(end);
      if (tag === resourceLogsTags.resource) this.#readResource(this.#sharedEnd(end));
      else if (tag === resourceLogsTags.schemaUrl) this.#readText(resource.schemaUrl, end);
      else wire.skip(tag, end);
    }
    wire.at = start;
    while (wire.at < end) {
      if (this.#isTurnOver()) yield;
      const tag = wire.tag(end);
      if (tag === resourceLogsTags.scopeLogs) yield* this.#readScopeLogs(wire.lengthEnd(end));
      else wire.skip(tag, end);
    }
  }

  *#readScopeLogs(end: number): Slices<void> {
    const wire = this.#wire;
    const start = wire.at;
    this.#batch.startScope();
    const { scope } = this.#batch;
    while (wire.at < end) {
      if (this.#isTurnOver()) yield;
      const tag = wire.tag(end);
      if (tag === scopeLogsTags.scope) this.#readScope(this.#sharedEnd(end));
      else if (tag === scopeLogsTags.schemaUrl) this.#readText(scope.schemaUrl, end);
      else wire.skip(tag, end);
    }
    wire.at = start;
    while (wire.at < end) {
      if (this.#isTurnOver()) yield;
      const tag = wire.tag(end);
      if (tag === scopeLogsTags.logRecords) this.#readLogRecord(wire.lengthEnd(end));
      else wire.skip(tag, end);
    }
  }

  #readLogRecord(end: number): void {
    const wire = this.#wire;
    this.#batch.startRecord();
    if (end - wire.at > maxRowBytes) {
      wire.at = end;
      return this.#batch.rejectTooLarge();
    }
    this.#readRecord(end);
    this.#batch.endRecord();
  }

  /** Reads the length of a resource or scope. @returns its end */
  #sharedEnd(end: number): number {
    const sharedEnd = this.#wire.lengthEnd(end);
    if (sharedEnd - this.#wire.at <= maxRowBytes) return sharedEnd;
    throw new AppError(
      'too_large',
      `cannot accept a resource or scope of more than ${maxRowBytes} bytes: ` +
        'send fewer or smaller attributes with it',
    );
  }

  /** Repeated resource messages are merged, as in protobuf. */
  #readResource(end: number): void {
    const wire = this.#wire;
    const { resource } = this.#batch;
    this.#cost += end - wire.at;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag === resourceTags.attributes) this.#values.readAttribute(resource, end);
      else if (tag === resourceTags.dropped) resource.droppedAttributes = wire.uint32(end);
      else wire.skip(tag, end);
    }
  }

  #readScope(end: number): void {
    const wire = this.#wire;
    const { scope } = this.#batch;
    this.#cost += end - wire.at;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag === scopeTags.name) this.#readText(scope.name, end);
      else if (tag === scopeTags.version) this.#readText(scope.version, end);
      else if (tag === scopeTags.attributes) this.#values.readAttribute(scope, end);
      else if (tag === scopeTags.dropped) scope.droppedAttributes = wire.uint32(end);
      else wire.skip(tag, end);
    }
  }

  #readRecord(end: number): void {
    const wire = this.#wire;
    const { record, warnings } = this.#batch;
    this.#cost += end - wire.at;
    while (wire.at < end) {
      const tag = wire.tag(end);
      if (tag === recordTags.time) this.#readTime(record.time, end);
      else if (tag === recordTags.observedTime) this.#readTime(record.observedTime, end);
      else if (tag === recordTags.severityNumber) record.severityNumber = wire.uint32(end) | 0;
      else if (tag === recordTags.severityText) this.#readText(record.severityText, end);
      else if (tag === recordTags.body) this.#readBody(wire.lengthEnd(end));
      else if (tag === recordTags.attributes) this.#values.readAttribute(record, end);
      else if (tag === recordTags.dropped) record.droppedAttributes = wire.uint32(end);
      else if (tag === recordTags.flags) record.flags = wire.fixed32(end);
      else if (tag === recordTags.traceId) this.#values.readId(record.traceId, wire.lengthEnd(end));
      else if (tag === recordTags.spanId) this.#values.readId(record.spanId, wire.lengthEnd(end));
      else if (tag === recordTags.eventName) this.#readText(record.eventName, end);
      else {
        if (recordFields.has(tag >>> 3)) warnings.add(logWarnings.wrongType);
        wire.skip(tag, end);
      }
    }
  }

  #readTime(slot: TimeSlot, end: number): void {
    this.#wire.fixed64(end);
    slot.set(this.#wire.high, this.#wire.low);
  }

  #readText(slot: TextSlot, end: number): void {
    this.#values.readText(this.#wire.lengthEnd(end));
    slot.take(this.#values.text);
  }

  #readBody(end: number): void {
    const { record } = this.#batch;
    this.#values.readValue(record.texts, end);
    record.body.take(this.#values.text);
  }
}
