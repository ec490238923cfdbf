/**
 * Decodes plain JSON logs (SPEC §2 "Log event") to `logs/1` rows. Events are transcoded from bytes
 * to bytes without building objects, so that work and memory are bounded by the size of the body.
 */
import { isUtf8 } from 'node:buffer';
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import {
  closeBracket,
  comma,
  failAt,
  openBrace,
  openBracket,
  skipSpace,
  skipValue,
} from '../../codec/json-scanner.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { Rejections } from '../../codec/rejections.ts';
import type { RowWriter } from '../../codec/row-writer.ts';
import { createSlicedDecoder, type Decoding } from '../../codec/sliced-decoder.ts';
import type { EventSlots } from './event-fields.ts';
import { type EventDialect, EventReader, plainEvents } from './event-reader.ts';
import { EventRowWriter, findFault } from './event-row.ts';
import { EventWorkspace } from './event-workspace.ts';

export const unreadableTime = 'unreadable time: stored with the time of receipt';
/** Bytes decoded without yielding. */
const sliceBytes = 512 * 1024;

export type JsonLogsDecoder = (body: Buffer, limits: DecodeLimits) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` for a body that is not JSON, is nested too deeply or has
 * no acceptable event, and `too_large` for more than `maxEvents` events.
 */
export function createJsonLogsDecoder(dialect: EventDialect = plainEvents): JsonLogsDecoder {
  const decodeInSlices = createSlicedDecoder(() => new EventWorkspace());
  return (body, limits) =>
    decodeInSlices((workspace) => new JsonLogsDecoding(body, workspace, dialect, limits));
}

class JsonLogsDecoding implements Decoding {
  readonly #body: Buffer;
  readonly #limits: DecodeLimits;
  readonly #slots: EventSlots;
  readonly #rows: RowWriter;
  readonly #reader: EventReader;
  readonly #writer: EventRowWriter;
  readonly #rejections: Rejections;
  #at = 0;
  #events = 0;
  #started = false;

  constructor(
    body: Buffer,
    { slots, rows }: EventWorkspace,
    dialect: EventDialect,
    limits: DecodeLimits,
  ) {
    this.#body = body;
    this.#slots = slots;
    this.#limits = limits;
    this.#rows = rows;
    this.#reader = new EventReader(body, slots, limits.maxDepth, dialect);
    this.#writer = new EventRowWriter(body, slots, this.#rows);
    this.#rejections = new Rejections(limits.maxRejections);
  }

  run(): boolean {
    if (!this.#started) {
      this.#started = true;
      if (this.#start()) return true;
    }
    const sliceEnd = this.#at + sliceBytes;
    while (this.#at < sliceEnd) {
      this.#readElement();
      const at = skipSpace(this.#body, this.#at);
      if (this.#body[at] === closeBracket) {
        this.#expectEnd(at + 1);
        return true;
      }
      if (this.#body[at] !== comma) failAt(this.#body, at, "',' or ']'");
      this.#at = skipSpace(this.#body, at + 1);
    }
    return false;
  }

  finish(): Batch {
    const rejections = this.#rejections.toBatch();
    const rows = this.#events - rejections.rejectedCount;
    if (rows === 0 && this.#events > 0) {
      const { index, reason } = rejections.rejected[0] ?? { index: 0, reason: 'not acceptable' };
      throw new AppError(
        'malformed',
        `cannot accept any of ${this.#events} events; the one at index ${index}: ${reason}`,
      );
    }
    const { unreadableTimes } = this.#writer;
    const warnings = new Map(unreadableTimes > 0 ? [[unreadableTime, unreadableTimes]] : []);
    return { layout: 'logs/1', rows, payload: this.#rows.finish(), ...rejections, warnings };
  }

  /** @returns true if the body is done: a single object, or an empty array. */
  #start(): boolean {
    const body = this.#body;
    if (!isUtf8(body)) {
      throw new AppError('malformed', 'cannot read the body: it is not valid UTF-8');
    }
    const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
    const at = skipSpace(body, hasMark ? 3 : 0);
    if (body[at] === openBrace) {
      this.#at = at;
      this.#readElement();
      this.#expectEnd(this.#at);
      return true;
    }
    if (body[at] !== openBracket) failAt(body, at, 'an object or an array of objects');
    this.#at = skipSpace(body, at + 1);
    if (body[this.#at] !== closeBracket) return false;
    this.#expectEnd(this.#at + 1);
    return true;
  }

  #readElement(): void {
    const index = this.#events++;
    if (index >= this.#limits.maxEvents) {
      throw tooManyEvents(this.#limits.maxEvents);
    }
    const start = this.#at;
    if (this.#body[start] !== openBrace) {
      this.#at = skipValue(this.#body, start, this.#limits.maxDepth);
      this.#rejections.add(index, 'the event is not an object');
      return;
    }
    this.#at = this.#reader.read(start);
    const fault = findFault(this.#slots);
    if (fault === '') this.#writer.write(this.#at - start);
    else this.#rejections.add(index, fault);
  }

  #expectEnd(at: number): void {
    const end = skipSpace(this.#body, at);
    if (this.#body[end] === openBrace) {
      throw new AppError(
        'malformed',
        `cannot read a second event at byte ${end}: send events as an array, or one after ` +
          'another to …/lines',
      );
    }
    if (end < this.#body.length) failAt(this.#body, end, 'the end of the body');
  }
}

export function tooManyEvents(maxEvents: number): AppError {
  return new AppError(
    'too_large',
    `cannot accept more than ${maxEvents} events in one request: ` +
      'split the batch, or raise ingest.jsonMaxEvents',
  );
}
