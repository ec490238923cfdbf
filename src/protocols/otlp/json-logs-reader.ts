/**
 * Reads an `ExportLogsServiceRequest` from JSON bytes into a batch
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). The first pass validates the
 * JSON and finds resources and scopes, which may follow their records; the second reads records.
 */
import { isUtf8 } from 'node:buffer';
import type { DecodeLimits } from '../../model/protocol.ts';
import type { LogsReader } from './decode.ts';
import {
  OutlineReader,
  type ResourceOutline,
  type ScopeOutline,
  sliceBytes,
} from './json-outline.ts';
import { createObjectKeys, JsonReader, noMoreKeys } from './json-reader.ts';
import { jsonWarnings } from './json-scalars.ts';
import { JsonValues } from './json-values.ts';
import type { LogBatch } from './log-batch.ts';
import { findStart, repairText } from './json-text.ts';

/** Indices into the lists of keys. */
const owner = { attributes: 0, droppedAttributes: 1, name: 2, version: 3 } as const;
const resourceKeys = createObjectKeys(['attributes', 'droppedAttributesCount']);
const scopeKeys = createObjectKeys(['attributes', 'droppedAttributesCount', 'name', 'version']);
const field = {
  time: 0,
  observedTime: 1,
  severityNumber: 2,
  severityText: 3,
  body: 4,
  attributes: 5,
  droppedAttributes: 6,
  flags: 7,
  traceId: 8,
  spanId: 9,
  eventName: 10,
} as const;
const recordKeys = createObjectKeys([
  'timeUnixNano',
  'observedTimeUnixNano',
  'severityNumber',
  'severityText',
  'body',
  'attributes',
  'droppedAttributesCount',
  'flags',
  'traceId',
  'spanId',
  'eventName',
]);

/** @param batch started. */
export function openJsonLogs(body: Buffer, batch: LogBatch, limits: DecodeLimits): LogsReader {
  const slices = readRequest(body, batch, limits);
  return { run: () => slices.next().done === true };
}

function* readRequest(
  body: Buffer,
  batch: LogBatch,
  limits: DecodeLimits,
): Generator<undefined, void> {
  const text = isUtf8(body) ? body : yield* repairText(body, batch.warnings);
  const reader = new JsonReader(text, findStart(text));
  const outline = new OutlineReader(reader, limits);
  const resources = yield* outline.read();
  batch.warnings.add(jsonWarnings.misspeltKey, outline.misspeltKeys);
  batch.warnings.add(jsonWarnings.otherSignal, outline.otherSignals);
  // A single record may take a whole turn in each pass.
  if (text.length > sliceBytes) yield;
  const values = new JsonValues(reader, batch.warnings, limits.maxDepth);
  yield* new RecordReader(reader, values, batch).read(resources);
  batch.warnings.add(jsonWarnings.repeatedKey, reader.repeatedKeys);
}

class RecordReader {
  readonly #reader: JsonReader;
  readonly #values: JsonValues;
  readonly #batch: LogBatch;
  #sliceEnd = sliceBytes;

  constructor(reader: JsonReader, values: JsonValues, batch: LogBatch) {
    this.#reader = reader;
    this.#values = values;
    this.#batch = batch;
  }

  *read(resources: readonly ResourceOutline[]): Generator<undefined, void> {
    for (const resource of resources) {
      this.#readResource(resource);
      for (const scope of resource.scopes) {
        this.#readScope(scope);
        yield* this.#readRecords(scope.records);
      }
    }
  }

  #readResource(outline: ResourceOutline): void {
    const reader = this.#reader;
    const { scalars } = this.#values;
    this.#batch.startResource();
    const { resource } = this.#batch;
    if (this.#goTo(outline.schemaUrl)) scalars.readText(resource.schemaUrl);
    if (!this.#goToObject(outline.resource)) return;
    let met = 0;
    let key = reader.firstKey(resourceKeys);
    for (; key !== noMoreKeys; key = reader.nextKey(resourceKeys)) {
      met = reader.meet(met, key);
      if (key === owner.attributes) this.#values.readAttributes(resource);
      else if (key === owner.droppedAttributes) resource.droppedAttributes = scalars.readUint32();
      else scalars.skipMember(key);
    }
  }

  #readScope(outline: ScopeOutline): void {
    const reader = this.#reader;
    const { scalars } = this.#values;
    this.#batch.startScope();
    const { scope } = this.#batch;
    if (this.#goTo(outline.schemaUrl)) scalars.readText(scope.schemaUrl);
    if (!this.#goToObject(outline.scope)) return;
    let met = 0;
    let key = reader.firstKey(scopeKeys);
    for (; key !== noMoreKeys; key = reader.nextKey(scopeKeys)) {
      met = reader.meet(met, key);
      if (key === owner.attributes) this.#values.readAttributes(scope);
      else if (key === owner.droppedAttributes) scope.droppedAttributes = scalars.readUint32();
      else if (key === owner.name) scalars.readText(scope.name);
      else if (key === owner.version) scalars.readText(scope.version);
      else scalars.skipMember(key);
    }
  }

  *#readRecords(at: number): Generator<undefined, void> {
    const reader = this.#reader;
    reader.at = at;
    for (let more = reader.firstElement(); more; more = reader.nextElement()) {
      if (reader.at >= this.#sliceEnd || this.#batch.isTurnOver) {
        this.#sliceEnd = reader.at + sliceBytes;
        yield;
      }
      if (reader.isNull()) {
        reader.skipScalar();
        continue;
      }
      this.#batch.startRecord();
      this.#readRecord();
      this.#batch.endRecord();
    }
  }

  #readRecord(): void {
    const reader = this.#reader;
    let met = 0;
    let key = reader.firstKey(recordKeys);
    for (; key !== noMoreKeys; key = reader.nextKey(recordKeys)) {
      met = reader.meet(met, key);
      this.#readField(key);
    }
  }

  #readField(key: number): void {
    const { record } = this.#batch;
    const { scalars } = this.#values;
    switch (key) {
      case field.time:
        return scalars.readTime(record.time);
      case field.observedTime:
        return scalars.readTime(record.observedTime);
      case field.severityNumber:
        record.severityNumber = scalars.readSeverityNumber();
        return;
      case field.severityText:
        scalars.readText(record.severityText);
        return;
      case field.body:
        this.#values.readValue(record.body, record.texts);
        return;
      case field.attributes:
        return this.#values.readAttributes(record);
      case field.droppedAttributes:
        record.droppedAttributes = scalars.readUint32();
        return;
      case field.flags:
        record.flags = scalars.readUint32();
        return;
      case field.traceId:
        return scalars.readId(record.traceId);
      case field.spanId:
        return scalars.readId(record.spanId);
      case field.eventName:
        scalars.readText(record.eventName);
        return;
      default:
        return scalars.skipMember(key);
    }
  }

  /** @returns false if `at` is negative: nothing there */
  #goTo(at: number): boolean {
    if (at < 0) return false;
    this.#reader.at = at;
    return true;
  }

  #goToObject(at: number): boolean {
    return this.#goTo(at) && (this.#reader.isObject() || this.#values.scalars.refuse());
  }
}
