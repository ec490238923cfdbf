/**
 * Where the readers of OTLP logs meet: they fill a resource, a scope and one log record after the
 * other, and rows come of it. So a request is the same rows whether it was sent as JSON or as
 * protobuf. It knows neither encoding.
 */
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { Rejections } from '../../codec/rejections.ts';
import { RowWriter } from '../../codec/row-writer.ts';
import { type Attributed, LogRecord, LogResource, LogScope, type TimeSlot } from './log-record.ts';
import { LogRowWriter, maxRowBytes } from './log-row.ts';
import { maxSeverityNumber } from './log-severity.ts';
import { LogTime } from './log-time.ts';
import { logWarnings, WarningCounts } from './log-warnings.ts';
import { maxElements } from './value-text.ts';

/** Attributes that Weir adds, where a sender does not use the key itself. */
const droppedKey = Buffer.from('otel.dropped_attributes_count');
/** The time as it was sent, where it cannot be the row's. */
const timeKey = Buffer.from('otel.time_unix_nano');
const observedTimeKey = Buffer.from('otel.observed_time_unix_nano');

const mebibyte = 1024 * 1024;
/**
 * Every row repeats its resource and scope, so rows may be larger than the body that brought them:
 * by so much.
 */
const rowBytesPerBodyByte = 4;
const minRowsCap = 32 * mebibyte;
const maxRowsCap = 128 * mebibyte;
/** A turn is over once it has written so many bytes of rows, however few asked for them. */
const turnRowBytes = mebibyte;

/**
 * One request after the other. A reader calls, for each resource, `startResource` and fills
 * `resource`; for each of its scopes `startScope` and fills `scope`; for each record `startRecord`,
 * fills `record`, and `endRecord`. Whatever it has to tell the sender goes to `warnings`.
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

  /** Begins a request, whatever became of the last one. */
  start(bodyBytes: number, limits: DecodeLimits): void {
    this.#limits = limits;
    this.#rejections = new Rejections(limits.maxRejections);
    this.#maxBytes = Math.min(Math.max(bodyBytes * rowBytesPerBodyByte, minRowsCap), maxRowsCap);
    this.startResource();
  }

  /** Called before each slice. */
  startTurn(): void {
    this.#turnEnd = this.#rows.length + turnRowBytes;
  }

  /** Whether a reader should stop after the record at hand, as its rows have become so many. */
  get isTurnOver(): boolean {
    return this.#rows.length >= this.#turnEnd;
  }

  /** An empty resource, with an empty scope. */
  startResource(): void {
    this.resource.clear();
    this.#hasNewResource = true;
    this.startScope();
  }

  /** An empty scope of the resource at hand. */
  startScope(): void {
    this.scope.clear();
    this.#hasNewScope = true;
  }

  /** An empty record of the scope at hand. @throws AppError `too_large` where it is one too many */
  startRecord(): void {
    const { maxEvents } = this.#limits;
    if (this.#records >= maxEvents) {
      throw new AppError(
        'too_large',
        `cannot take more than ${maxEvents} log records in one request: ` +
          'split the batch, or raise ingest.otlpMaxRecords',
      );
    }
    this.#records += 1;
    this.record.clear();
  }

  /** Writes the record's row. @throws AppError `too_large` where the rows together become so */
  endRecord(): void {
    const { record } = this;
    this.#settleShared();
    if (record.texts.hasTooManyElements) {
      return this.#reject(`the record has more than ${maxElements} elements in arrays and maps`);
    }
    const time = this.#readTime(record.time, this.#time, timeKey);
    const observed = this.#readTime(record.observedTime, this.#observedTime, observedTimeKey);
    const hasNoTime = isAbsent(record.time);
    if (record.severityNumber < 0 || record.severityNumber > maxSeverityNumber) {
      this.warnings.add(logWarnings.severityNumber);
    }
    this.#settle(record);
    const times = { time: hasNoTime ? observed : time, observedTime: observed };
    if (!this.#writer.write(record, times)) return this.rejectTooLarge();
    if (this.#rows.length > this.#maxBytes) this.#failTooManyBytes();
  }

  /** In place of `endRecord`, where it cannot be but that its row takes more than `maxRowBytes`. */
  rejectTooLarge(): void {
    this.#reject(`the record takes more than ${maxRowBytes} bytes`);
  }

  /** The batch of all records since `start`; to be followed by `clear`. */
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

  /** Resource and scope are encoded with their first record: most that have none cost nothing. */
  #settleShared(): void {
    if (this.#hasNewResource) {
      checkElements(this.resource);
      this.#settle(this.resource);
      this.#writer.setResource(this.resource);
      this.#hasNewResource = false;
    }
    if (this.#hasNewScope) {
      checkElements(this.scope);
      this.#settle(this.scope);
      this.#writer.setScope(this.scope);
      this.#hasNewScope = false;
    }
  }

  /** Tells of attributes that were not taken, ours and the sender's. */
  #settle(owner: Attributed): void {
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

  /** @returns undefined where the time of receipt takes its place; the original becomes a label. */
  #readTime(slot: TimeSlot, time: LogTime, key: Buffer): LogTime | undefined {
    const { attributes, texts } = this.record;
    if (slot.unreadable.length > 0) {
      this.warnings.add(logWarnings.timeForm);
      const { source, start, end } = slot.unreadable;
      attributes.set(attributes.addOwn(key), source, start, end);
      return undefined;
    }
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
      `cannot take more than ${this.#maxBytes} bytes of rows from one request, of which each ` +
        'repeats its resource and scope: split the batch',
    );
  }
}

/** Without its resource and scope, no record is what was sent. */
function checkElements({ texts }: Attributed): void {
  if (!texts.hasTooManyElements) return;
  throw new AppError(
    'too_large',
    `cannot take a resource or scope with more than ${maxElements} elements in arrays and maps: ` +
      'send smaller values',
  );
}

function isAbsent({ high, low, unreadable }: TimeSlot): boolean {
  return high === 0 && low === 0 && unreadable.length === 0;
}
