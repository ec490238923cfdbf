/**
 * Splits a syslog connection into messages: octet-counted, or ended by a line break or NUL
 * (RFC 6587), told apart for each message. Memory is bounded by the longest message. NUL ends
 * a message before its next byte arrives: Python's SysLogHandler sends that much later.
 */
import type { TextRange } from '../text-slots.ts';

const newline = 0x0a;
const space = 0x20;
const less = 0x3c;
/** More digits are no length. */
const maxDigits = 9;
const nothing = Buffer.alloc(0);

export class SyslogFrames {
  readonly #maxBytes: number;
  #rest: Buffer = nothing;
  /** Bytes of a cut message that are still to come. */
  #skipBytes = 0;
  /** The rest of a cut line is still to come. */
  #isSkippingLine = false;
  /** Where the search for the end of a line continues. */
  #searched = 0;
  /** The next ones in what is read: not searched again for each line. */
  #lineBreak = -1;
  #nul = -1;
  /** A message with a priority was seen: NUL ends messages. In other text it is a byte like any. */
  #hasPriorities = false;
  /** The message follows NUL: line breaks are within it, as in stacks of Python. */
  #keepsLineBreaks = false;

  /** @param maxBytes a longer message is cut to one byte more, by which its reader knows */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of a message of which the end is missing. */
  get partialBytes(): number {
    return this.#rest.length;
  }

  /** @returns the messages that are complete; they share memory with `chunk` */
  push(chunk: Buffer): Buffer[] {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    this.#lineBreak = -1;
    this.#nul = -1;
    let at = this.#skip(data);
    while (at < data.length && !this.#isSkippingLine) {
      const next = this.#read(data, at, frames);
      if (next < 0) break;
      at = next;
    }
    // A copy: a part of a read would keep all of it in memory.
    this.#rest = at < data.length ? Buffer.from(data.subarray(at)) : nothing;
    this.#searched = Math.max(0, this.#searched - at);
    return frames;
  }

  /** @returns the last line if it lacks its end */
  end(): Buffer | undefined {
    const line = this.#rest;
    this.#rest = nothing;
    const isLine = line.length > 0 && !this.#isSkippingLine && countAt(line, 0) === 'line';
    return isLine ? line : undefined;
  }

  #skip(data: Buffer): number {
    if (this.#isSkippingLine) {
      this.#isSkippingLine = !this.#findEnd(data, 0);
      return this.#searched;
    }
    const skipped = Math.min(this.#skipBytes, data.length);
    this.#skipBytes -= skipped;
    return skipped;
  }

  /** @returns the position after the message, or -1 if its end is missing */
  #read(data: Buffer, at: number, frames: Buffer[]): number {
    // Ends of lines, also after a counted message.
    if (data[at]! <= space) {
      this.#keepsLineBreaks = data[at] === 0;
      return at + 1;
    }
    const counted = countAt(data, at);
    if (counted === 'incomplete') return -1;
    return counted === 'line'
      ? this.#readLine(data, at, frames)
      : this.#readCounted(data, counted, frames);
  }

  #readCounted(data: Buffer, { start, length }: Count, frames: Buffer[]): number {
    const end = start + Math.min(length, this.#maxBytes + 1);
    if (data.length < end) return -1;
    frames.push(data.subarray(start, end));
    const after = Math.min(start + length, data.length);
    this.#skipBytes = start + length - after;
    return after;
  }

  #readLine(data: Buffer, at: number, frames: Buffer[]): number {
    // The second byte tells whether it has a priority.
    if (data.length < at + 2) return -1;
    const hasPriority = beginsMessage(data, at) === true;
    this.#hasPriorities ||= hasPriority;
    this.#keepsLineBreaks &&= hasPriority;
    const hasEnd = this.#findEnd(data, at);
    const end = this.#searched;
    const cutAt = at + this.#maxBytes + 1;
    if (!hasEnd && end < cutAt) return -1;
    this.#isSkippingLine = !hasEnd;
    frames.push(data.subarray(at, Math.min(end, cutAt)));
    return end;
  }

  /** Searches up to the end of the line. @returns false if it is missing, or the bytes after it */
  #findEnd(data: Buffer, at: number): boolean {
    let isEnd: boolean | undefined = false;
    let end = this.#nextDelimiter(data, Math.max(at, this.#searched));
    for (; end < data.length; end = this.#nextDelimiter(data, end + 1)) {
      if (end === this.#nul) isEnd = this.#hasPriorities;
      else isEnd = !this.#keepsLineBreaks || beginsMessage(data, end + 1);
      if (isEnd !== false) break;
    }
    this.#searched = end;
    return isEnd === true;
  }

  #nextDelimiter(data: Buffer, at: number): number {
    if (this.#lineBreak < at) this.#lineBreak = indexOrEnd(data, newline, at);
    if (this.#nul < at) this.#nul = indexOrEnd(data, 0, at);
    return Math.min(this.#lineBreak, this.#nul);
  }
}

function indexOrEnd(data: Buffer, byte: number, at: number): number {
  const index = data.indexOf(byte, at);
  return index < 0 ? data.length : index;
}

/** @returns undefined if bytes are missing */
function beginsMessage(data: Buffer, at: number): boolean | undefined {
  if (at < data.length && data[at] !== less) return false;
  return at + 1 < data.length ? isDigit(data[at + 1]) : undefined;
}

interface Count {
  readonly start: number;
  readonly length: number;
}

/** A length, a space and `<`: a line of text may begin with a number as well. */
function countAt(data: Buffer, at: number): Count | 'line' | 'incomplete' {
  let length = 0;
  for (let digits = 0; digits <= maxDigits; digits += 1) {
    const byte = data[at + digits];
    if (byte === undefined) return 'incomplete';
    if (byte === space && length > 0) {
      const start = at + digits + 1;
      if (data[start] === undefined) return 'incomplete';
      return data[start] === less ? { start, length } : 'line';
    }
    if (!isDigit(byte)) return 'line';
    length = length * 10 + byte - 0x30;
  }
  return 'line';
}

/** Messages as one body: each octet-counted, whatever it contains. */
export function joinFrames(frames: readonly Buffer[]): Buffer {
  let bytes = 0;
  for (const { length } of frames) bytes += length + maxDigits + 1;
  const body = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const frame of frames) {
    at += body.write(`${frame.length} `, at, 'latin1');
    at += frame.copy(body, at);
  }
  return body.subarray(0, at);
}

/** Yields the messages of such a body. A body in another form is one message. */
export function* eachFrame(body: Buffer): Generator<TextRange> {
  for (let at = 0; at < body.length; ) {
    let length = 0;
    let gap = at;
    for (; gap < at + maxDigits && isDigit(body[gap]); gap += 1) {
      length = length * 10 + body[gap]! - 0x30;
    }
    if (gap === at || body[gap] !== space) {
      yield { start: at, end: body.length };
      return;
    }
    const start = gap + 1;
    at = Math.min(start + length, body.length);
    yield { start, end: at };
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
