/** The rows, rejections and warnings of the events of one body. */
import type { BodyText } from '../../codec/body-text.ts';
import { addCount, Rejections } from '../../codec/rejections.ts';
import { RowWriter } from '../../codec/row-writer.ts';
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { EventSlots } from './event-fields.ts';
import { EventRowWriter, findFault } from './event-row.ts';

const unreadableTime = 'unreadable time: stored with the time of receipt';
const brokenText = 'text that is not valid UTF-8: repaired';

/** Of an event that is no JSON, in bytes that take as long to read: each error has a stack. */
export const brokenEventCost = 8 * 1024;

/** Memory of a decoder of events, reused from body to body. */
export class EventWorkspace {
  readonly slots = new EventSlots();
  readonly rows = new RowWriter();

  /** Releases the body that was decoded. */
  clear(): void {
    this.slots.release();
    this.rows.clear();
  }
}

export class EventBatch {
  readonly #slots: EventSlots;
  readonly #rows: RowWriter;
  readonly #limits: DecodeLimits;
  readonly #rejections: Rejections;
  readonly #warnings = new Map<string, number>();
  #writer: EventRowWriter;
  #count = 0;

  /** @param bytes of which slots are ranges */
  constructor(bytes: Buffer, { slots, rows }: EventWorkspace, limits: DecodeLimits) {
    this.#slots = slots;
    this.#rows = rows;
    this.#limits = limits;
    this.#rejections = new Rejections(limits.maxRejections);
    this.#writer = new EventRowWriter(bytes, slots, rows);
  }

  /** Whether further rejections are listed. */
  get listsRejections(): boolean {
    return this.#rejections.count < this.#limits.maxRejections;
  }

  /** Slots of further events are ranges of these bytes. */
  continueIn(bytes: Buffer): void {
    this.warn(unreadableTime, this.#writer.unreadableTimes);
    this.#writer = new EventRowWriter(bytes, this.#slots, this.#rows);
  }

  /** Counts a change of events that are stored. @param reason never contains data of the sender */
  warn(reason: string, count = 1): void {
    if (count > 0) addCount(this.#warnings, reason, count);
  }

  /** Warns of lines that were repaired. */
  warnOf({ brokenLines }: BodyText): void {
    this.warn(brokenText, brokenLines);
  }

  /**
   * Writes, rejects or skips the event in the slots.
   * @param eventBytes its length, which bounds its row
   * @param example of a rejection, shown to the sender only
   * @throws AppError `too_large`
   */
  take(eventBytes: number, example?: () => string): void {
    if (this.#slots.isSkipped) return;
    const fault = findFault(this.#slots);
    if (fault === '') this.write(eventBytes);
    else this.reject(fault, example?.());
  }

  /** Writes the event in the slots, which must be valid. @throws AppError `too_large` */
  write(eventBytes: number): void {
    this.#begin();
    this.#writer.write(eventBytes);
  }

  /** @param example shown to the sender only. @throws AppError `too_large` */
  reject(reason: string, example = ''): void {
    this.#rejections.add(this.#begin(), reason, 1, example);
  }

  /** @throws AppError `malformed` if all events were rejected */
  finish(): Batch {
    const batch = this.finishEvenEmpty();
    if (batch.rows > 0 || this.#count === 0) return batch;
    const reason = batch.rejected[0]?.reason ?? 'not acceptable';
    throw new AppError(
      'malformed',
      `cannot accept any of ${this.#count} events; the first: ${reason}`,
    );
  }

  /** For protocols that answer each event alone. */
  finishEvenEmpty(): Batch {
    const rejections = this.#rejections.toBatch();
    const rows = this.#count - rejections.rejectedCount;
    this.warn(unreadableTime, this.#writer.unreadableTimes);
    const payload = this.#rows.finish();
    return { layout: 'logs/1', rows, payload, ...rejections, warnings: this.#warnings };
  }

  /** @returns the index of the event */
  #begin(): number {
    const { maxEvents } = this.#limits;
    if (this.#count >= maxEvents) throw tooManyEvents(maxEvents);
    return this.#count++;
  }
}

export function tooManyEvents(maxEvents: number): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${maxEvents} events in one request: ` +
      'split the batch, or raise ingest.jsonMaxEvents',
  );
}

export function tooManyBytes(maxBytes: number): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${maxBytes} bytes of entries with their labels in one request: ` +
      'split the batch and send the parts',
  );
}

/** Labels of a stream, metadata or tags in one place. */
export const maxLabelBytes = 64 * 1024;

export function tooManyLabelBytes(): AppError {
  return new AppError(
    'malformed',
    `cannot accept labels of over ${maxLabelBytes} bytes in one place`,
  );
}
