/**
 * The header and structured data of RFC 5424 §6 as ranges of the message, and the token that a
 * sender may put there.
 */

const space = 0x20;
const quote = 0x22;
const dash = 0x2d;
const one = 0x31;
const less = 0x3c;
const equals = 0x3d;
const more = 0x3e;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const maxPriority = 191;
const maxNameBytes = 64;

/** @returns the priority of the message in [at, end), or -1 without one */
export function readPriority(bytes: Buffer, at: number, end: number): number {
  if (bytes[at] !== less) return -1;
  let value = 0;
  let digits = at + 1;
  for (; digits < end && digits < at + 4; digits += 1) {
    const digit = bytes[digits]! - 0x30;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  const isRead = digits > at + 1 && digits < end && bytes[digits] === more;
  return isRead && value <= maxPriority ? value : -1;
}

/** Indices of the parts of a header. */
export const part = { time: 0, host: 1, app: 2, procId: 3, msgId: 4 } as const;
const maxPartBytes = [64, 255, 128, 128, 128] as const;

/** The header behind the priority. Reused from message to message. */
export class StandardHeader {
  readonly start = new Int32Array(maxPartBytes.length);
  readonly end = new Int32Array(maxPartBytes.length);

  /** @returns the position of the structured data, or -1 for another form */
  read(bytes: Buffer, at: number, end: number): number {
    if (at + 1 >= end || bytes[at] !== one || bytes[at + 1] !== space) return -1;
    at += 2;
    for (let index = 0; index < maxPartBytes.length; index += 1) {
      const start = at;
      while (at < end && bytes[at]! > space) at += 1;
      const length = at - start;
      const isPart = length > 0 && length <= maxPartBytes[index]!;
      if (!isPart || at >= end || bytes[at] !== space) return -1;
      this.start[index] = start;
      this.end[index] = at;
      at += 1;
    }
    return at < end && (bytes[at] === dash || bytes[at] === openBracket) ? at : -1;
  }

  /** Whether the part is present: the sign `-` means none. */
  has(bytes: Buffer, index: number): boolean {
    const start = this.start[index]!;
    return this.end[index]! - start > 1 || bytes[start] !== dash;
  }
}

/** A cursor over the parameters of structured data. Reused from message to message. */
export class Parameters {
  idStart = 0;
  idEnd = 0;
  nameStart = 0;
  nameEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  isEscaped = false;
  /** Once `next` has returned false: the position after the data, or -1 if they are malformed. */
  at = 0;
  #end = 0;
  #isInside = false;

  /** @param at the position of `-` or `[` */
  open(bytes: Buffer, at: number, end: number): void {
    this.at = bytes[at] === dash ? at + 1 : at;
    this.#end = end;
    this.#isInside = false;
  }

  /** @returns whether there is a further parameter */
  next(bytes: Buffer): boolean {
    for (;;) {
      if (this.#isInside) {
        if (this.#readParameter(bytes)) return true;
        if (this.#byteAt(bytes, this.at) !== closeBracket) break;
        this.at += 1;
        this.#isInside = false;
      }
      if (this.#byteAt(bytes, this.at) !== openBracket) return false;
      this.idStart = this.at + 1;
      this.idEnd = this.#endOfName(bytes, this.idStart);
      if (this.idEnd < 0) break;
      this.at = this.idEnd;
      this.#isInside = true;
    }
    this.at = -1;
    return false;
  }

  /** Whether the parameter is the token of a receiver: `[weir token="wri_…"]`. */
  isToken(bytes: Buffer): boolean {
    const isName = matches(bytes, this.nameStart, this.nameEnd, tokenName);
    const bare = this.idStart + tokenElement.length;
    if (!isName || !matches(bytes, this.idStart, Math.min(bare, this.idEnd), tokenElement)) {
      return false;
    }
    return /^(?:@\d+)?$/.test(bytes.toString('latin1', bare, this.idEnd));
  }

  #readParameter(bytes: Buffer): boolean {
    let { at } = this;
    while (this.#byteAt(bytes, at) === space) at += 1;
    if (at === this.at) return false;
    const nameEnd = this.#endOfName(bytes, at);
    if (nameEnd < 0 || this.#byteAt(bytes, nameEnd) !== equals) return false;
    if (this.#byteAt(bytes, nameEnd + 1) !== quote) return false;
    this.nameStart = at;
    this.nameEnd = nameEnd;
    this.valueStart = nameEnd + 2;
    this.isEscaped = false;
    for (at = this.valueStart; at < this.#end && bytes[at] !== quote; at += 1) {
      if (bytes[at] !== backslash) continue;
      this.isEscaped = true;
      at += 1;
    }
    if (at >= this.#end) return false;
    this.valueEnd = at;
    this.at = at + 1;
    return true;
  }

  /** @returns the position after the name, or -1 if it is empty or too long */
  #endOfName(bytes: Buffer, start: number): number {
    let at = start;
    while (at < this.#end && isOfName(bytes[at]!)) at += 1;
    return at === start || at - start > maxNameBytes ? -1 : at;
  }

  #byteAt(bytes: Buffer, at: number): number {
    return at < this.#end ? bytes[at]! : -1;
  }
}

const tokenElement = Buffer.from('weir');
const tokenName = Buffer.from('token');

function matches(bytes: Buffer, start: number, end: number, word: Buffer): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i += 1) if (bytes[start + i] !== word[i]) return false;
  return true;
}

function isOfName(byte: number): boolean {
  return byte > space && byte !== equals && byte !== closeBracket && byte !== quote;
}

/** Writes a value without its escapes over itself. @returns the position after it */
export function unescapeInPlace(bytes: Buffer, start: number, end: number): number {
  let to = start;
  for (let at = start; at < end; at += 1) {
    const next = bytes[at + 1];
    const isEscape =
      bytes[at] === backslash &&
      at + 1 < end &&
      (next === quote || next === backslash || next === closeBracket);
    if (isEscape) at += 1;
    bytes[to++] = bytes[at]!;
  }
  return to;
}

/** The token in the structured data of a message. */
export function tokenOf(frame: Buffer): string | undefined {
  const { length } = frame;
  if (readPriority(frame, 0, length) < 0) return undefined;
  const dataAt = new StandardHeader().read(frame, frame.indexOf(more) + 1, length);
  if (dataAt < 0) return undefined;
  const parameters = new Parameters();
  let token: string | undefined;
  parameters.open(frame, dataAt, length);
  while (parameters.next(frame)) {
    if (!parameters.isToken(frame)) continue;
    const value = Buffer.from(frame.subarray(parameters.valueStart, parameters.valueEnd));
    token = value.toString('latin1', 0, unescapeInPlace(value, 0, value.length));
  }
  return parameters.at < 0 ? undefined : token;
}
