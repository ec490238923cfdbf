/**
 * Splits a syslog connection into messages: octet-counted, or ended by a line break or NUL
 * (RFC 6587), told apart for each message. Memory is bounded by the longest message.
 */

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
  /** After a message that ended with NUL: line breaks are in messages, as in stacks of Python. */
  #endsWithNul = false;

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
    let at = this.#skip(data);
    for (let next = at; next >= 0 && at < data.length; ) {
      next = this.#read(data, at, frames);
      if (next >= 0) at = next;
    }
    // A copy: a part of a read would keep all of it in memory.
    this.#rest = at < data.length ? Buffer.from(data.subarray(at)) : nothing;
    return frames;
  }

  /** @returns the last line if it lacks its end */
  end(): Buffer | undefined {
    const line = this.#rest;
    this.#rest = nothing;
    return line.length > 0 && countAt(line, 0) === 'line' ? line : undefined;
  }

  #skip(data: Buffer): number {
    if (this.#isSkippingLine) {
      const end = this.#endOfLine(data, 0);
      this.#isSkippingLine = end < 0;
      return end < 0 ? data.length : end + 1;
    }
    const skipped = Math.min(this.#skipBytes, data.length);
    this.#skipBytes -= skipped;
    return skipped;
  }

  /** @returns the position after the message, or -1 if its end is missing */
  #read(data: Buffer, at: number, frames: Buffer[]): number {
    // Ends of lines, also after a counted message.
    if (data[at]! <= space) return at + 1;
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
    const end = this.#endOfLine(data, at);
    const cutAt = at + this.#maxBytes + 1;
    if (end < 0 && data.length < cutAt) return -1;
    this.#isSkippingLine = end < 0;
    const stop = end < 0 ? data.length : end;
    frames.push(data.subarray(at, Math.min(stop, cutAt)));
    return end < 0 ? stop : end + 1;
  }

  /** @returns -1 if the end is missing */
  #endOfLine(data: Buffer, at: number): number {
    let lineBreak = data.indexOf(newline, at);
    // Not beyond the line: else each of many lines would read all of the rest.
    const nul = this.#endsWithNul
      ? data.indexOf(0, at)
      : data.subarray(0, lineBreak < 0 ? data.length : lineBreak).indexOf(0, at);
    if (this.#endsWithNul) {
      const last = nul < 0 ? data.length : nul;
      while (lineBreak >= 0 && !beginsMessage(data, lineBreak + 1)) {
        lineBreak = data.subarray(0, last).indexOf(newline, lineBreak + 1);
      }
    }
    if (nul < 0 || (lineBreak >= 0 && lineBreak < nul)) return lineBreak;
    this.#endsWithNul = true;
    return nul;
  }
}

function beginsMessage(data: Buffer, at: number): boolean {
  return data[at] === less && isDigit(data[at + 1]);
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
export function* eachFrame(
  body: Buffer,
): Generator<{ readonly start: number; readonly end: number }> {
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
