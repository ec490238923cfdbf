/**
 * Decodes events one after another: JSON values with space between them, lines of text, or logfmt.
 * An event that cannot be read is rejected by its line, and the next line is read.
 */
import { isUtf8 } from 'node:buffer';
import { openBrace, skipSpace, skipValue } from '../../codec/json-scanner.ts';
import { Rejections } from '../../codec/rejections.ts';
import type { RowWriter } from '../../codec/row-writer.ts';
import { createSlicedDecoder, type Decoding } from '../../codec/sliced-decoder.ts';
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { tooManyEvents, unreadableTime } from './decode.ts';
import type { EventSlots } from './event-fields.ts';
import { type EventDialect, EventReader, plainEvents, tolerantEvents } from './event-reader.ts';
import { EventRowWriter, findFault } from './event-row.ts';
import { EventWorkspace } from './event-workspace.ts';
import { eachPiece, type LineFormat } from './text-lines.ts';

const sliceBytes = 512 * 1024;
const newline = 0x0a;
/** Begins each value of a JSON text sequence (RFC 7464). */
const recordSeparator = 0x1e;
const notJson = 'not JSON';

export type LinesDecoder = (
  body: Buffer,
  format: LineFormat | 'json',
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/** @param pieces each of whole JSON events */
export type PiecesDecoder = (
  pieces: Iterator<Buffer>,
  limits: DecodeLimits,
) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` if no event is acceptable, and `too_large` for more than
 * `maxEvents` events.
 */
export function createLinesDecoder(): LinesDecoder {
  const decode = createPiecesDecoder(openTolerantEvents);
  return (body, format, limits) =>
    decode(format === 'json' ? [body].values() : eachPiece(body, format), limits);
}

export function createPiecesDecoder(open: OpenSource = openEvents(plainEvents)): PiecesDecoder {
  const decodeInSlices = createSlicedDecoder(() => new EventWorkspace());
  return (pieces, limits) =>
    decodeInSlices((workspace) => new LinesDecoding(pieces, workspace, open, limits));
}

/** Reads the events of one piece. */
export interface EventSource {
  /**
   * @param at the position of an opening brace
   * @returns the position after the event
   * @throws AppError `malformed`
   */
  read(at: number): number;
  /** @returns the reason to reject the event, or '' */
  findFault(): string;
}

/** @param slots which the source fills with each event */
export type OpenSource = (bytes: Buffer, slots: EventSlots, maxDepth: number) => EventSource;

export const openTolerantEvents: OpenSource = openEvents(tolerantEvents);

function openEvents(dialect: EventDialect): OpenSource {
  return (bytes, slots, maxDepth) => {
    const reader = new EventReader(bytes, slots, maxDepth, dialect);
    return { read: (at) => reader.read(at), findFault: () => findFault(slots) };
  };
}

class LinesDecoding implements Decoding {
  readonly #pieces: Iterator<Buffer>;
  readonly #limits: DecodeLimits;
  readonly #slots: EventSlots;
  readonly #rows: RowWriter;
  readonly #rejections: Rejections;
  readonly #openSource: OpenSource;
  #piece: Buffer = Buffer.alloc(0);
  #source: EventSource;
  #writer: EventRowWriter;
  #at = 0;
  #events = 0;
  #unreadableTimes = 0;
  /** Line of the request, from 1, that begins at `#lineAt` of the piece. */
  #line = 1;
  #lineAt = 0;

  constructor(
    pieces: Iterator<Buffer>,
    { slots, rows }: EventWorkspace,
    open: OpenSource,
    limits: DecodeLimits,
  ) {
    this.#pieces = pieces;
    this.#slots = slots;
    this.#rows = rows;
    this.#openSource = open;
    this.#limits = limits;
    this.#rejections = new Rejections(limits.maxRejections);
    this.#source = open(this.#piece, slots, limits.maxDepth);
    this.#writer = new EventRowWriter(this.#piece, slots, rows);
  }

  run(): boolean {
    this.#skipSeparators();
    if (this.#at >= this.#piece.length) {
      const next: IteratorResult<Buffer, unknown> = this.#pieces.next();
      if (next.done === true) return true;
      this.#open(next.value);
    }
    const sliceEnd = this.#at + sliceBytes;
    for (this.#skipSeparators(); this.#at < this.#piece.length; this.#skipSeparators()) {
      if (this.#at >= sliceEnd) return false;
      this.#readEvent();
    }
    return false;
  }

  finish(): Batch {
    this.#unreadableTimes += this.#writer.unreadableTimes;
    const rejections = this.#rejections.toBatch();
    const rows = this.#events - rejections.rejectedCount;
    if (rows === 0 && this.#events > 0) {
      const reason = rejections.rejected[0]?.reason ?? 'not acceptable';
      throw new AppError('malformed', `cannot accept any of ${this.#events} events; ${reason}`);
    }
    const warnings = new Map(
      this.#unreadableTimes > 0 ? [[unreadableTime, this.#unreadableTimes]] : [],
    );
    return { layout: 'logs/1', rows, payload: this.#rows.finish(), ...rejections, warnings };
  }

  #open(piece: Buffer): void {
    if (!isUtf8(piece)) {
      throw new AppError('malformed', 'cannot read the body: it is not valid UTF-8');
    }
    this.#line += countLines(this.#piece, this.#lineAt, this.#piece.length);
    this.#lineAt = 0;
    this.#unreadableTimes += this.#writer.unreadableTimes;
    this.#piece = piece;
    this.#at = piece[0] === 0xef && piece[1] === 0xbb && piece[2] === 0xbf ? 3 : 0;
    this.#source = this.#openSource(piece, this.#slots, this.#limits.maxDepth);
    this.#writer = new EventRowWriter(piece, this.#slots, this.#rows);
  }

  #skipSeparators(): void {
    do this.#at = skipSpace(this.#piece, this.#at);
    while (this.#piece[this.#at] === recordSeparator && this.#at++ < this.#piece.length);
  }

  #readEvent(): void {
    const { maxEvents, maxDepth } = this.#limits;
    const index = this.#events++;
    if (index >= maxEvents) throw tooManyEvents(maxEvents);
    const start = this.#at;
    try {
      if (this.#piece[start] === openBrace) {
        this.#at = this.#source.read(start);
        const fault = this.#source.findFault();
        if (fault === '') this.#writer.write(this.#at - start);
        else this.#reject(index, start, fault);
      } else {
        this.#at = skipValue(this.#piece, start, maxDepth);
        this.#reject(index, start, 'the event is not an object');
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#reject(index, start, notJson, error.message);
      const end = this.#piece.indexOf(newline, start);
      this.#at = end < 0 ? this.#piece.length : end;
    }
  }

  #reject(index: number, at: number, reason: string, detail = ''): void {
    if (this.#rejections.count < this.#limits.maxRejections) {
      this.#line += countLines(this.#piece, this.#lineAt, at);
      this.#lineAt = at;
    }
    const example = detail === '' ? `line ${this.#line}` : `line ${this.#line}: ${detail}`;
    this.#rejections.add(index, reason, 1, example);
  }
}

function countLines(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  let at = bytes.indexOf(newline, start);
  for (; at >= 0 && at < end; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
}
