/**
 * The first of two walks over an OTLP JSON body: checks that all of it is JSON and finds where the
 * records stand, and the resource and scope that go with them, which may come after. It does not
 * look into records.
 */
import { AppError } from '../../model/errors.ts';
import { failAt, skipSpace } from '../../codec/json-scanner.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { createObjectKeys, type JsonReader, misspeltKey, noMoreKeys } from './json-reader.ts';

/** Positions in the body; -1 = absent. */
export interface ScopeOutline {
  /** Of the scope's object. */
  readonly scope: number;
  /** Of the schema's URL, a string. */
  readonly schemaUrl: number;
  /** Of the array of records. */
  readonly records: number;
}

export interface ResourceOutline {
  /** Of the resource's object. */
  readonly resource: number;
  readonly schemaUrl: number;
  /** Those that have records. */
  readonly scopes: readonly ScopeOutline[];
}

const requestKeys = createObjectKeys([
  'resourceLogs',
  // What requests of other signals have in its place.
  'resourceSpans',
  'resourceMetrics',
  'resourceProfiles',
]);
const resourceKeys = createObjectKeys(
  ['scopeLogs', 'resource', 'schemaUrl'],
  ['instrumentationLibraryLogs'],
);
const scopeKeys = createObjectKeys(
  ['logRecords', 'scope', 'schemaUrl'],
  ['instrumentationLibrary', 'logs'],
);
/** Places in the lists above. */
const resourceLogs = 0;
const scopeLogs = 0;
const logRecords = 0;
const owner = 1;
const schemaUrl = 2;

/** Levels of objects and arrays around a value, and those of one value within another. */
const levelsAboveValues = 12;
const levelsPerValue = 4;
/** The walk is recursive; twice as many levels still fit into the stack. */
const maxLevels = 1500;
/** Each walk lets other requests have a turn after so many bytes. */
export const sliceBytes = 512 * 1024;

export class OutlineReader {
  readonly #reader: JsonReader;
  readonly #maxRecords: number;
  readonly #maxLevels: number;
  #records = 0;
  #sliceEnd: number;
  /** Keys that were not read, though they are meant: `scope_logs`, and such of an older OTLP. */
  misspeltKeys = 0;
  /** Lists of spans, metrics or profiles: their sender has the wrong address. */
  otherSignals = 0;

  constructor(reader: JsonReader, limits: DecodeLimits) {
    this.#reader = reader;
    this.#maxRecords = limits.maxEvents;
    this.#maxLevels = Math.min(levelsAboveValues + limits.maxDepth * levelsPerValue, maxLevels);
    this.#sliceEnd = reader.at + sliceBytes;
  }

  /**
   * Yields between slices.
   * @returns the resources that have records; of repeated keys the last counts.
   * @throws AppError `malformed` | `too_large`
   */
  *read(): Generator<undefined, readonly ResourceOutline[]> {
    const reader = this.#reader;
    let resources: readonly ResourceOutline[] = [];
    if (!reader.isObject()) failAt(reader.bytes, reader.at, 'an object');
    let met = 0;
    for (let key = reader.firstKey(requestKeys); key !== noMoreKeys; ) {
      met = reader.meet(met, key);
      if (key === resourceLogs) resources = yield* this.#readResources();
      else this.#passOver(key);
      if (key > resourceLogs) this.otherSignals += 1;
      key = reader.nextKey(requestKeys);
    }
    const end = skipSpace(reader.bytes, reader.at);
    if (end < reader.bytes.length) failAt(reader.bytes, end, 'the end of the body');
    return resources;
  }

  *#readResources(): Generator<undefined, readonly ResourceOutline[]> {
    const resources: ResourceOutline[] = [];
    for (let more = this.#firstElement(); more; more = this.#reader.nextElement()) {
      if (this.#isTurnOver()) yield;
      if (this.#isNull()) continue;
      const resource = yield* this.#readResource();
      if (resource.scopes.length > 0) resources.push(resource);
    }
    return resources;
  }

  *#readResource(): Generator<undefined, ResourceOutline> {
    const reader = this.#reader;
    let resource = -1;
    let schema = -1;
    let scopes: readonly ScopeOutline[] = [];
    if (!reader.isObject()) failAt(reader.bytes, reader.at, 'an object');
    let met = 0;
    for (let key = reader.firstKey(resourceKeys); key !== noMoreKeys; ) {
      met = reader.meet(met, key);
      if (key === scopeLogs) scopes = yield* this.#readScopes();
      else if (key === owner) resource = this.#mark();
      else if (key === schemaUrl) schema = this.#mark();
      else this.#passOver(key);
      key = reader.nextKey(resourceKeys);
    }
    return { resource, schemaUrl: schema, scopes };
  }

  *#readScopes(): Generator<undefined, readonly ScopeOutline[]> {
    const scopes: ScopeOutline[] = [];
    for (let more = this.#firstElement(); more; more = this.#reader.nextElement()) {
      if (this.#isTurnOver()) yield;
      if (this.#isNull()) continue;
      const scope = yield* this.#readScope();
      if (scope.records >= 0) scopes.push(scope);
    }
    return scopes;
  }

  *#readScope(): Generator<undefined, ScopeOutline> {
    const reader = this.#reader;
    let scope = -1;
    let schema = -1;
    let records = -1;
    if (!reader.isObject()) failAt(reader.bytes, reader.at, 'an object');
    let met = 0;
    for (let key = reader.firstKey(scopeKeys); key !== noMoreKeys; ) {
      met = reader.meet(met, key);
      if (key === logRecords) records = yield* this.#readRecords();
      else if (key === owner) scope = this.#mark();
      else if (key === schemaUrl) schema = this.#mark();
      else this.#passOver(key);
      key = reader.nextKey(scopeKeys);
    }
    return { scope, schemaUrl: schema, records };
  }

  /** @returns the position of the array, or -1 if it has no records. */
  *#readRecords(): Generator<undefined, number> {
    const reader = this.#reader;
    const start = reader.at;
    const before = this.#records;
    for (let more = this.#firstElement(); more; more = reader.nextElement()) {
      if (this.#isTurnOver()) yield;
      if (this.#isNull()) continue;
      if (!reader.isObject()) failAt(reader.bytes, reader.at, 'a log record as an object');
      if (this.#records >= this.#maxRecords) throw tooManyRecords(this.#maxRecords);
      this.#records += 1;
      reader.skip(this.#maxLevels);
    }
    return this.#records > before ? start : -1;
  }

  /** @returns the position of the value, which is passed over; -1 for null. */
  #mark(): number {
    const at = this.#reader.isNull() ? -1 : this.#reader.at;
    this.#reader.skip(this.#maxLevels);
    return at;
  }

  #passOver(key: number): void {
    if (key === misspeltKey) this.misspeltKeys += 1;
    this.#reader.skip(this.#maxLevels);
  }

  /** Enters an array; null is as good as an empty one. */
  #firstElement(): boolean {
    if (this.#isNull()) return false;
    const reader = this.#reader;
    if (!reader.isArray()) failAt(reader.bytes, reader.at, 'an array');
    return reader.firstElement();
  }

  #isNull(): boolean {
    if (!this.#reader.isNull()) return false;
    this.#reader.skipScalar();
    return true;
  }

  #isTurnOver(): boolean {
    if (this.#reader.at < this.#sliceEnd) return false;
    this.#sliceEnd = this.#reader.at + sliceBytes;
    return true;
  }
}

function tooManyRecords(maxRecords: number): AppError {
  return new AppError(
    'too_large',
    `cannot take more than ${maxRecords} log records in one request: ` +
      'split the batch, or raise ingest.otlpMaxRecords',
  );
}
