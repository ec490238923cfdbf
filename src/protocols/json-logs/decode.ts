/**
 * Plain JSON logs (SPEC §2 "Log event"): one object, or an array of objects, to a batch of `logs/1`
 * rows. Pure: bytes in, batch out. Events are transcoded from bytes to bytes, so the work and the
 * memory are bounded by the body's size.
 */
import { isUtf8 } from 'node:buffer';
import type { Batch, Rejection } from '../../model/batch.ts';
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
import { RowWriter } from '../../codec/row-writer.ts';
import { EventSlots } from './event-fields.ts';
import { EventReader } from './event-reader.ts';
import { EventRowWriter, findFault } from './event-row.ts';

/** Decoding lets other requests have a turn after each slice of this many bytes. */
const sliceBytes = 512 * 1024;

/** Decodes one body after the other, or several in turns; a server needs one. */
export type JsonLogsDecoder = (body: Buffer, limits: DecodeLimits) => Batch | Promise<Batch>;

/**
 * The decoder keeps its working memory from body to body. A body must stay unchanged until its
 * batch is there.
 *
 * The decoder throws AppError `malformed` for text that is no JSON, is nested too deep, or holds no
 * acceptable event at all, and `too_large` for more than `maxEvents` events. Nothing of such a body
 * may be stored.
 */
export function createJsonLogsDecoder(): JsonLogsDecoder {
  const slots = new EventSlots();
  const idleWriters: RowWriter[] = [];

  async function finishInTurns(decoding: Decoding, rows: RowWriter): Promise<Batch> {
    try {
      do await new Promise<void>((resolve) => setImmediate(resolve));
      while (!decoding.run());
      return decoding.finish();
    } finally {
      rows.clear();
      idleWriters.push(rows);
    }
  }

  return (body, limits) => {
    const rows = idleWriters.pop() ?? new RowWriter();
    const decoding = new Decoding(body, slots, rows, limits);
    let isDone = true;
    try {
      isDone = decoding.run();
      return isDone ? decoding.finish() : finishInTurns(decoding, rows);
    } finally {
      if (isDone) {
        rows.clear();
        idleWriters.push(rows);
      }
    }
  };
}

/** One body being decoded. The slots are shared: between two events they hold nothing. */
class Decoding {
  readonly #body: Buffer;
  readonly #limits: DecodeLimits;
  readonly #slots: EventSlots;
  readonly #rows: RowWriter;
  readonly #reader: EventReader;
  readonly #writer: EventRowWriter;
  readonly #rejected: Rejection[] = [];
  #at = 0;
  #events = 0;
  #rejectedCount = 0;
  readonly #rejectedByReason = new Map<string, number>();
  #started = false;

  constructor(body: Buffer, slots: EventSlots, rows: RowWriter, limits: DecodeLimits) {
    this.#body = body;
    this.#slots = slots;
    this.#limits = limits;
    this.#rows = rows;
    this.#reader = new EventReader(body, slots, limits.maxDepth);
    this.#writer = new EventRowWriter(body, slots, this.#rows);
  }

  /** Decodes up to the end of a slice. @returns true once the body is done. */
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
    const rows = this.#events - this.#rejectedCount;
    if (rows === 0 && this.#events > 0) {
      const { index, reason } = this.#rejected[0] ?? { index: 0, reason: 'it is not acceptable' };
      throw new AppError(
        'malformed',
        `cannot accept any of ${this.#events} events; the one at index ${index}: ${reason}`,
      );
    }
    return {
      layout: 'logs/1',
      rows,
      payload: this.#rows.finish(),
      rejected: this.#rejected,
      rejectedCount: this.#rejectedCount,
      rejectedByReason: this.#rejectedByReason,
    };
  }

  /** @returns true if the body is done already: a single object, or an empty array. */
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
      throw new AppError(
        'too_large',
        `cannot take more than ${this.#limits.maxEvents} events in one request: ` +
          'split the batch, or raise ingest.jsonMaxEvents',
      );
    }
    const start = this.#at;
    if (this.#body[start] !== openBrace) {
      this.#at = skipValue(this.#body, start, this.#limits.maxDepth);
      this.#reject(index, 'the event is not an object');
      return;
    }
    this.#at = this.#reader.read(start);
    const fault = findFault(this.#slots);
    if (fault === '') this.#writer.write(this.#at - start);
    else this.#reject(index, fault);
  }

  #reject(index: number, reason: string): void {
    this.#rejectedCount += 1;
    this.#rejectedByReason.set(reason, (this.#rejectedByReason.get(reason) ?? 0) + 1);
    if (this.#rejected.length < this.#limits.maxRejections) this.#rejected.push({ index, reason });
  }

  #expectEnd(at: number): void {
    const end = skipSpace(this.#body, at);
    if (end < this.#body.length) failAt(this.#body, end, 'the end of the body');
  }
}
