/** Bytes to lines, and lines to events. */
import { isUtf8 } from 'node:buffer';
import type { OutgoingEvent } from './batcher.ts';
import type { LineReading } from './event-line.ts';
import type { EventSource } from './pump.ts';
import type { Place, Tally } from './tally.ts';

export interface Line {
  /** Without the line feed; a view of the chunk. Undefined for a line over the limit. */
  readonly bytes: Buffer | undefined;
  /** Counted from 1. */
  readonly number: number;
  /** Bytes of the source up to the next line. */
  readonly endOffset: number;
}

/** Longer than any receiver accepts with its defaults. */
export const maxLineBytes = 16 * 1024 * 1024;
export const tooLong: LineReading = {
  kind: 'fault',
  reason: 'cannot accept more than 16 MiB in one line',
};
const lineFeed = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export interface SourceOptions {
  readonly tally: Tally;
  /** Lines that end within this many bytes were sent before; default 0. */
  readonly settledOffset?: number;
}

/** @param read gives undefined for a blank line. */
export function createLineSource(
  read: (text: string) => LineReading | undefined,
  { tally, settledOffset = 0 }: SourceOptions,
): EventSource {
  const splitter = new LineSplitter();
  function* toEvents(lines: readonly Line[]): Iterable<OutgoingEvent> {
    for (const { bytes, number, endOffset } of lines) {
      if (endOffset <= settledOffset) continue;
      const reading = bytes === undefined ? tooLong : read(toText(bytes, tally));
      yield* countReading(reading, { line: number, endOffset }, tally);
    }
  }
  return {
    push: (chunk) => toEvents(splitter.push(chunk)),
    end: () => toEvents(splitter.end()),
  };
}

/** @returns the event, if there is one. */
export function countReading(
  reading: LineReading | undefined,
  place: Place & { readonly endOffset: number },
  tally: Tally,
): OutgoingEvent[] {
  if (reading === undefined) {
    tally.blank += 1;
    return [];
  }
  tally.read += 1;
  if (reading.kind === 'event') return [{ json: reading.json, isTimed: reading.isTimed, ...place }];
  tally.reject(place, reading.reason);
  return [];
}

/** Replaces invalid UTF-8 by U+FFFD and counts such lines. */
export function toText(bytes: Buffer, tally: Tally): string {
  if (!isUtf8(bytes)) tally.repaired += 1;
  return bytes.toString();
}

/** Holds at most one unfinished line. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #offset = 0;
  #lines = 0;
  #pieces: Buffer[] = [];
  #pieceBytes = 0;

  constructor(maxBytes = maxLineBytes) {
    this.#maxLineBytes = maxBytes;
  }

  /** @returns the lines that end in this chunk, valid until the chunk changes. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let at = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, at);
      if (end < 0) break;
      lines.push(this.#finish(chunk.subarray(at, end), 1));
      at = end + 1;
    }
    if (at < chunk.length) this.#keep(chunk.subarray(at));
    return lines;
  }

  /** @returns the last line, where the bytes do not end with a line feed. */
  end(): Line[] {
    return this.#pieceBytes === 0 ? [] : [this.#finish(Buffer.alloc(0), 0)];
  }

  #finish(rest: Buffer, feedBytes: number): Line {
    const length = this.#pieceBytes + rest.length;
    const whole = this.#pieceBytes === 0 ? rest : Buffer.concat([...this.#pieces, rest]);
    const isFirst = this.#offset === 0;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#offset += length + feedBytes;
    this.#lines += 1;
    const hasMark = isFirst && whole.subarray(0, 3).equals(byteOrderMark);
    const bytes = hasMark ? whole.subarray(3) : whole;
    return {
      bytes: length <= this.#maxLineBytes ? bytes : undefined,
      number: this.#lines,
      endOffset: this.#offset,
    };
  }

  #keep(piece: Buffer): void {
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > this.#maxLineBytes) this.#pieces = [];
    // A copy, because the source may reuse the chunk.
    else this.#pieces.push(Buffer.from(piece));
  }
}
