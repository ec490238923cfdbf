/**
 * Turns the resources, scopes and records of one request into rows, independent of their encoding:
 * JSON and protobuf yield the same rows.
 */
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { Rejections } from '../../codec/rejections.ts';
import { RowWriter } from '../../codec/row-writer.ts';
import {
  type Attributed,
  LogRecord,
  LogResource,
  LogScope,
  logWarnings,
  timeKeys,
  type TimeSlot,
  WarningCounts,
} from './log-record.ts';
import { LogRowWriter, maxRowBytes } from './log-row.ts';
import { LogTime, maxSeverityNumber } from './log-fields.ts';
import { maxElements } from './value-text.ts';

/** Attributes that Weir adds unless the sender uses the key. */
const droppedKey = Buffer.from('otel.dropped_attributes_count');

const mebibyte = 1024 * 1024;
/** Limit on rows per byte of the body: rows repeat their resource and scope. */
const rowBytesPerBodyByte = 4;
const minRowsCap = 32 * mebibyte;
const maxRowsCap = 128 * mebibyte;
/** A turn ends after this many bytes of rows. */
const turnRowBytes = mebibyte;

/**
 * Reused from request to request. A reader calls `startResource` and fills `resource`, then per
 * scope `startScope` and fills `scope`, then per record `startRecord`, fills `record` and calls
 * `endRecord`.
 */
export class LogBatch {
  readonly resource = new LogResource();
  readonly scope = new LogScope();
  readonly record = new LogRecord();
  readonly warnings = new WarningCounts();
  readonly #rows = new RowWriter();
  readonly #writer = new LogRowWriter(this.#rows);
  readonly #time = new LogTime();
  readonly #observedTime = new LogTime();
  #limits: DecodeLimits = { maxEvents: 0, maxDepth: 0, maxRejections: 0 };
  #maxBytes = 0;
  #turnEnd = 0;
  #records = 0;
  #hasNewResource = true;
  #hasNewScope = true;
  #rejections = new Rejections(0);

  start(bodyBytes: number, limits: DecodeLimits): void {
    this.#limits = limits;
    this.#rejections = new Rejections(limits.maxRejections);
    this.#maxBytes = Math.min(Math.max(bodyBytes * rowBytesPerBodyByte, minRowsCap), maxRowsCap);
    this.startTurn();
    this.startResource();
  }

  /** Called after each slice. */
  startTurn(): void {
    this.#turnEnd = this.#rows.length + turnRowBytes;
  }

  /** Whether a reader should stop after the current record. */
  get isTurnOver(): boolean {
    return this.#rows.length >= this.#turnEnd;
  }

  startResource(): void {
    this.resource.clear();
    this.#hasNewResource = true;
    this.startScope();
  }

  startScope(): void {
    this.scope.clear();
    this.#hasNewScope = true;
  }

  /** @throws AppError `too_large` for more records than the limit */
  startRecord(): void {
    const { maxEvents } = this.#limits;
    if (this.#records >= maxEvents) {
      throw new AppError(
        'too_large',
        `cannot accept more than ${maxEvents} log records in one request: ` +
          'split the batch, or raise ingest.otlpMaxRecords',
      );
    }
    this.#records += 1;
    this.record.clear();
  }

  /** Writes the row of the record. @throws AppError `too_large` if the rows exceed their limit */
  endRecord(): void {
    const { record } = this;
    this.#encodeShared();
    if (record.texts.hasTooManyElements) {
      return this.#reject(`the record has more than ${maxElements} elements in arrays and maps`);
    }
    const time = this.#readTime(record.time, this.#time, timeKeys.time);
    const observed = this.#readTime(record.observedTime, this.#observedTime, timeKeys.observedTime);
    const hasNoTime = record.time.high === 0 && record.time.low === 0;
    if (record.severityNumber < 0 || record.severityNumber > maxSeverityNumber) {
      this.warnings.add(logWarnings.severityNumber);
    }
    this.#countDropped(record);
    const times = { time: hasNoTime ? observed : time, observedTime: observed };
    if (!this.#writer.write(record, times)) return this.rejectTooLarge();
    if (this.#rows.length > this.#maxBytes) this.#failTooManyBytes();
  }

  /** Ends a record whose row would exceed `maxRowBytes`. */
  rejectTooLarge(): void {
    this.#reject(`the record takes more than ${maxRowBytes} bytes`);
  }

  /** The batch of all records since `start`. The caller then calls `clear`. */
  finish(): Batch {
    return {
      layout: 'logs/1',
      rows: this.#records - this.#rejections.count,
      payload: this.#rows.finish(),
      ...this.#rejections.toBatch(),
      warnings: this.warnings.take(),
    };
  }

  /** Forgets the request and releases its buffers. */
  clear(): void {
    this.startResource();
    this.record.clear();
    for (const { attributes } of [this.resource, this.scope, this.record]) attributes.release();
    this.#writer.release();
    this.#rows.clear();
    this.warnings.take();
    this.#records = 0;
  }

  /** Encodes resource and scope with their first record. */
  #encodeShared(): void {
    if (this.#hasNewResource) {
      checkElements(this.resource);
      this.#countDropped(this.resource);
      this.#writer.setResource(this.resource);
      this.#hasNewResource = false;
    }
    if (this.#hasNewScope) {
      checkElements(this.scope);
      this.#countDropped(this.scope);
      this.#writer.setScope(this.scope);
      this.#hasNewScope = false;
    }
  }

  /** Adds warnings and the count of dropped attributes. */
  #countDropped(owner: Attributed): void {
    const { attributes, texts } = owner;
    const { leftOut } = attributes;
    this.warnings.add(logWarnings.repeatedKey, attributes.repeated);
    this.warnings.add(logWarnings.tooManyAttributes, leftOut);
    const dropped = owner.droppedAttributes + leftOut;
    if (dropped === 0) return;
    const start = texts.length;
    texts.ascii(String(dropped));
    attributes.set(attributes.addOwn(droppedKey), texts.bytes, start, texts.length);
  }

  /** @returns undefined = use the time of receipt; a time as sent is kept as an attribute */
  #readTime(slot: TimeSlot, time: LogTime, key: Buffer): LogTime | undefined {
    const { attributes, texts } = this.record;
    const verdict = time.read(slot.high, slot.low);
    if (verdict === 'exact') return time;
    if (verdict === 'absent') return undefined;
    if (verdict === 'corrected') {
      this.warnings.add(logWarnings.timeUnit);
      return time;
    }
    this.warnings.add(logWarnings.timeRange);
    const start = texts.length;
    texts.ascii(String((BigInt(slot.high) << 32n) | BigInt(slot.low)));
    attributes.set(attributes.addOwn(key), texts.bytes, start, texts.length);
    return undefined;
  }

  #reject(reason: string): void {
    this.#rejections.add(this.#records - 1, reason);
  }

  #failTooManyBytes(): never {
    throw new AppError(
      'too_large',
      `cannot accept more than ${this.#maxBytes} bytes of rows from one request, of which each ` +
        'repeats its resource and scope: split the batch',
    );
  }
}

/** A resource or scope cannot be rejected without its records. */
function checkElements({ texts }: Attributed): void {
  if (!texts.hasTooManyElements) return;
  throw new AppError(
    'too_large',
    `cannot accept a resource or scope with more than ${maxElements} elements in arrays and ` +
      'maps: send smaller values',
  );
}
