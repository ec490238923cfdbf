/**
 * Decodes JSON events one after another, with space between them, from a body or its pieces. An
 * event that cannot be read is rejected by its line, and the next line is read.
 */
import { repairText } from '../../codec/body-text.ts';
import { openBrace, skipSpace, skipValue } from '../../codec/json-scanner.ts';
import { createSlicedDecoder, sliceBytes, type Slices } from '../../codec/sliced-decoder.ts';
import type { Batch } from '../../model/batch.ts';
import { AppError } from '../../model/errors.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { notObject } from './decode.ts';
import { brokenEventCost, EventBatch, EventWorkspace } from './event-batch.ts';
import { type OpenReader, openPlainEvents, type ReadEvent } from './event-reader.ts';

const newline = 0x0a;
/** Begins each value of a JSON text sequence (RFC 7464). */
const recordSeparator = 0x1e;
const notJson = 'not JSON';

/** Divides a body into pieces of whole JSON events. */
type ToPieces = (text: Buffer) => Iterable<Buffer>;

/** @param toPieces default: the body is JSON */
export type PiecesDecoder = (
  body: Buffer,
  limits: DecodeLimits,
  toPieces?: ToPieces,
) => Batch | Promise<Batch>;

/**
 * The decoder throws AppError `malformed` if no event is acceptable, and `too_large` for more than
 * `maxEvents` events.
 */
export function createPiecesDecoder(open: OpenReader = openPlainEvents): PiecesDecoder {
  const decodeInSlices = createSlicedDecoder(() => new EventWorkspace());
  return (body, limits, toPieces = whole) =>
    decodeInSlices((workspace) => {
      const text = repairText(body);
      const batch = new EventBatch(text.bytes, workspace, limits);
      batch.warnOf(text);
      const openReader = (piece: Buffer) => open(piece, workspace.slots, limits.maxDepth);
      return new LinesDecoding(openReader, batch, limits).decode(toPieces(text.bytes));
    });
}

const whole: ToPieces = (text) => [text];
const nothing = Buffer.alloc(0);

class LinesDecoding {
  readonly #maxDepth: number;
  readonly #batch: EventBatch;
  readonly #openReader: (piece: Buffer) => ReadEvent;
  #piece: Buffer = nothing;
  #read: ReadEvent;
  #at = 0;
  /** Of the event that is being read. */
  #start = 0;
  /** Line of the request, from 1, that begins at `#lineAt` of the piece. */
  #line = 1;
  #lineAt = 0;
  /** Where other requests have a turn. */
  #sliceEnd = 0;

  constructor(
    openReader: (piece: Buffer) => ReadEvent,
    batch: EventBatch,
    { maxDepth }: DecodeLimits,
  ) {
    this.#maxDepth = maxDepth;
    this.#batch = batch;
    this.#openReader = openReader;
    this.#read = openReader(this.#piece);
  }

  *decode(pieces: Iterable<Buffer>): Slices<Batch> {
    for (const piece of pieces) {
      if (this.#piece.length > 0) yield;
      this.#open(piece);
      this.#sliceEnd = sliceBytes;
      for (this.#skipSeparators(); this.#at < piece.length; this.#skipSeparators()) {
        if (this.#at >= this.#sliceEnd) {
          yield;
          this.#sliceEnd = this.#at + sliceBytes;
        }
        this.#readEvent();
      }
    }
    return this.#batch.finish();
  }

  #open(piece: Buffer): void {
    this.#line += countLines(this.#piece, this.#lineAt, this.#piece.length);
    this.#lineAt = 0;
    this.#piece = piece;
    this.#at = 0;
    this.#read = this.#openReader(piece);
    this.#batch.continueIn(piece);
  }

  #skipSeparators(): void {
    do this.#at = skipSpace(this.#piece, this.#at);
    while (this.#piece[this.#at] === recordSeparator && this.#at++ < this.#piece.length);
  }

  #readEvent(): void {
    const start = this.#at;
    this.#start = start;
    try {
      if (this.#piece[start] === openBrace) {
        this.#at = this.#read(start);
        this.#batch.take(this.#at - start, this.#describeLine);
      } else {
        this.#at = skipValue(this.#piece, start, this.#maxDepth);
        this.#batch.reject(notObject, this.#describeLine());
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'malformed') throw error;
      this.#batch.reject(notJson, `${this.#describeLine()}: ${error.message}`);
      this.#sliceEnd -= brokenEventCost;
      const end = this.#piece.indexOf(newline, start);
      this.#at = end < 0 ? this.#piece.length : end;
    }
  }

  /** Lines are not counted once rejections are no longer listed. */
  readonly #describeLine = (): string => {
    if (this.#batch.listsRejections) {
      this.#line += countLines(this.#piece, this.#lineAt, this.#start);
      this.#lineAt = this.#start;
    }
    return `line ${this.#line}`;
  };
}

function countLines(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  let at = bytes.indexOf(newline, start);
  for (; at >= 0 && at < end; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
}
