/**
 * First pass over an OTLP JSON body: validates the JSON and finds the positions of records,
 * resources and scopes. It does not read records.
 */
import { AppError } from '../../model/errors.ts';
import { failAt, skipSpace } from '../../codec/json-scanner.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { createObjectKeys, type JsonReader, misspeltKey, noMoreKeys } from './json-reader.ts';

/** Positions in the body; -1 = absent. */
export interface ScopeOutline {
  readonly scope: number;
  readonly schemaUrl: number;
  readonly records: number;
}

export interface ResourceOutline {
  readonly resource: number;
  readonly schemaUrl: number;
  /** Scopes with records. */
  readonly scopes: readonly ScopeOutline[];
}

const requestKeys = createObjectKeys([
  'resourceLogs',
  // Keys of requests of other signals.
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
/** Indices into the lists above. */
const resourceLogs = 0;
const scopeLogs = 0;
const logRecords = 0;
const owner = 1;
const schemaUrl = 2;

/** Levels of JSON around a value, and per nested value. */
const levelsAboveValues = 12;
const levelsPerValue = 4;
/** The pass is recursive; the stack has room for twice as many levels. */
const maxLevels = 1500;
/** Bytes read in each pass without yielding. */
export const sliceBytes = 512 * 1024;

export class OutlineReader {
  readonly #reader: JsonReader;
  readonly #maxRecords: number;
  readonly #maxLevels: number;
  #records = 0;
  #sliceEnd: number;
  /** Number of misspelt keys, as `scope_logs`, and keys of an older OTLP. */
  misspeltKeys = 0;
  /** Number of lists of spans, metrics or profiles, sent to the wrong address. */
  otherSignals = 0;

  constructor(reader: JsonReader, limits: DecodeLimits) {
    this.#reader = reader;
    this.#maxRecords = limits.maxEvents;
    this.#maxLevels = Math.min(levelsAboveValues + limits.maxDepth * levelsPerValue, maxLevels);
    this.#sliceEnd = reader.at + sliceBytes;
  }

  /**
   * Yields between slices. The last of repeated keys counts.
   * @returns the resources with records
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
      else this.#skipMember(key);
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
      else this.#skipMember(key);
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
      else this.#skipMember(key);
      key = reader.nextKey(scopeKeys);
    }
    return { scope, schemaUrl: schema, records };
  }

  /** @returns the position of the array, or -1 if it has no records */
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

  /** Skips the value. @returns its position, or -1 for null */
  #mark(): number {
    const at = this.#reader.isNull() ? -1 : this.#reader.at;
    this.#reader.skip(this.#maxLevels);
    return at;
  }

  #skipMember(key: number): void {
    if (key === misspeltKey) this.misspeltKeys += 1;
    this.#reader.skip(this.#maxLevels);
  }

  /** Enters an array; null counts as empty. */
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
    `cannot accept more than ${maxRecords} log records in one request: ` +
      'split the batch, or raise ingest.otlpMaxRecords',
  );
}
