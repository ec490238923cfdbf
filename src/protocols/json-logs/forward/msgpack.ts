/**
 * Walks MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md) without building
 * values, so that a message of many tiny values costs no more than its bytes.
 */
import { AppError } from '../../../model/errors.ts';

export type Kind =
  | 'nil'
  | 'false'
  | 'true'
  | 'uint'
  | 'int'
  | 'float'
  | 'string'
  | 'binary'
  | 'extension'
  | 'array'
  | 'map';

/** Kind and size of a value. Reused from value to value. */
export class Head {
  kind: Kind = 'nil';
  /** Elements of an array, pairs of a map, else bytes from `start`. */
  size = 0;
  /** Position of the content. */
  start = 0;
  /** Type of an extension. */
  type = 0;

  /**
   * @param end of the bytes that may be read
   * @returns false if they end within the head
   * @throws AppError `malformed`
   */
  read(bytes: Buffer, at: number, end: number): boolean {
    if (at >= end) return false;
    const byte = bytes[at]!;
    if (byte <= 0x7f || byte >= 0xe0) return this.#set(byte <= 0x7f ? 'uint' : 'int', 1, at);
    if (byte <= 0x8f) return this.#set('map', byte & 15, at + 1);
    if (byte <= 0x9f) return this.#set('array', byte & 15, at + 1);
    if (byte <= 0xbf) return this.#set('string', byte & 31, at + 1);
    if (byte >= 0xd4 && byte <= 0xd8) {
      return this.#extension(bytes, { at: at + 1, end }, 1 << (byte - 0xd4));
    }
    const form = heads[byte - firstHead];
    if (form === undefined) throw malformed(at, 'no value begins with the byte 0xc1');
    const { kind, sizeBytes, fixed } = form;
    if (fixed !== undefined) return this.#set(kind, fixed, at + 1);
    const start = at + 1 + sizeBytes;
    if (start > end) return false;
    const size = sizeBytes === 1 ? bytes[at + 1]! : bytes.readUIntBE(at + 1, sizeBytes);
    return kind === 'extension'
      ? this.#extension(bytes, { at: start, end }, size)
      : this.#set(kind, size, start);
  }

  #set(kind: Kind, size: number, start: number): true {
    this.kind = kind;
    this.size = size;
    this.start = start;
    return true;
  }

  #extension(
    bytes: Buffer,
    { at, end }: { readonly at: number; readonly end: number },
    size: number,
  ): boolean {
    if (at >= end) return false;
    this.type = bytes.readInt8(at);
    return this.#set('extension', size, at + 1);
  }

  /** Position after the value, or after the head of an array or map. */
  get end(): number {
    return this.kind === 'array' || this.kind === 'map' ? this.start : this.start + this.size;
  }

  /** Values inside. */
  get children(): number {
    if (this.kind === 'array') return this.size;
    return this.kind === 'map' ? 2 * this.size : 0;
  }
}

interface Form {
  readonly kind: Kind;
  readonly sizeBytes: number;
  /** The size, if all values have the same. */
  readonly fixed: number | undefined;
}

const firstHead = 0xc0;
const never = undefined;
/** By the first byte, from `firstHead`. */
const heads: readonly (Form | undefined)[] = [
  toForm('nil', 0, 0),
  never,
  toForm('false', 0, 0),
  toForm('true', 0, 0),
  ...[1, 2, 4].map((bytes) => toForm('binary', bytes)),
  ...[1, 2, 4].map((bytes) => toForm('extension', bytes)),
  ...[4, 8].map((size) => toForm('float', 0, size)),
  ...[1, 2, 4, 8].map((size) => toForm('uint', 0, size)),
  ...[1, 2, 4, 8].map((size) => toForm('int', 0, size)),
  // Extensions of a fixed size.
  ...Array.from({ length: 5 }, () => never),
  ...[1, 2, 4].map((bytes) => toForm('string', bytes)),
  ...[2, 4].map((bytes) => toForm('array', bytes)),
  ...[2, 4].map((bytes) => toForm('map', bytes)),
];

function toForm(kind: Kind, sizeBytes: number, fixed?: number): Form {
  return { kind, sizeBytes, fixed };
}

export function malformed(at: number, problem: string): AppError {
  return new AppError('malformed', `cannot read MessagePack at byte ${at}: ${problem}`);
}

/** @throws AppError `malformed` if the value is not whole */
export function headAt(bytes: Buffer, at: number, head: Head): Head {
  const isWhole = head.read(bytes, at, bytes.length) && head.end <= bytes.length;
  if (!isWhole) throw malformed(at, 'the message ends');
  return head;
}

/** @returns the position after the value. @throws AppError `malformed` */
export function skipValue(bytes: Buffer, at: number, head: Head): number {
  for (let remaining = 1; remaining > 0; remaining -= 1) {
    const byte = bytes[at]!;
    // Short texts, numbers and words, of which most values are.
    if (byte <= 0x7f || byte >= 0xe0 || byte === 0xc0 || byte === 0xc2 || byte === 0xc3) {
      at += 1;
    } else if (byte >= 0xa0 && byte <= 0xbf) {
      at += 1 + (byte & 31);
      if (at > bytes.length) throw malformed(at, 'the message ends');
    } else {
      headAt(bytes, at, head);
      at = head.end;
      remaining += head.children;
    }
  }
  return at;
}

/** Positions of the elements of an array, of at most `most`; undefined for another value. */
export function elementsOf(bytes: Buffer, at: number, most: number): number[] | undefined {
  const head = headAt(bytes, at, new Head());
  if (head.kind !== 'array' || head.size > most) return undefined;
  const positions: number[] = [];
  at = head.end;
  for (let left = head.size; left > 0; left -= 1) {
    positions.push(at);
    at = skipValue(bytes, at, head);
  }
  return positions;
}

/** The content of a string or binary; undefined for another value. */
export function bytesAt(bytes: Buffer, at: number): Buffer | undefined {
  const head = headAt(bytes, at, new Head());
  const isText = head.kind === 'string' || head.kind === 'binary';
  return isText ? bytes.subarray(head.start, head.end) : undefined;
}

const initialBytes = 4096;
const nothing = Buffer.alloc(0);

/** Splits a connection into values. */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #head = new Head();
  #buffer = nothing;
  #length = 0;
  /** Position of the next value that is not walked; beyond the bytes for a long one. */
  #at = 0;
  #remaining = 1;
  #fault: AppError | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of a message of which the end is missing. */
  get partialBytes(): number {
    return this.#length;
  }

  /** `malformed` or `too_large`. */
  get fault(): AppError | undefined {
    return this.#fault;
  }

  push(chunk: Buffer): Buffer[] {
    this.#append(chunk);
    const messages: Buffer[] = [];
    try {
      this.#split(messages);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#fault = error;
    }
    return messages;
  }

  /** @throws AppError `malformed` | `too_large` */
  #split(messages: Buffer[]): void {
    let start = 0;
    while (this.#head.read(this.#buffer, this.#at, this.#length)) {
      if (this.#head.end > this.#length) {
        // The content of the value is still to come.
        if (this.#head.end - start > this.#maxBytes) throw this.#tooLarge();
        break;
      }
      this.#at = this.#head.end;
      this.#remaining += this.#head.children - 1;
      if (this.#remaining > 0) continue;
      messages.push(Buffer.from(this.#buffer.subarray(start, this.#at)));
      start = this.#at;
      this.#remaining = 1;
    }
    this.#dropFirst(start);
    if (this.#length > this.#maxBytes) throw this.#tooLarge();
  }

  #tooLarge(): AppError {
    const limit = `${this.#maxBytes} bytes (forward.maxMessageBytes)`;
    return new AppError('too_large', `cannot accept a message of more than ${limit}`);
  }

  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      const size = Math.max(needed, 2 * this.#buffer.length, initialBytes);
      const grown = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = needed;
  }

  #dropFirst(bytes: number): void {
    this.#buffer.copyWithin(0, bytes, this.#length);
    this.#length -= bytes;
    this.#at -= bytes;
    if (this.#length === 0) this.#buffer = nothing;
  }
}

/** Encodes the small answers of the server. */
export function encode(value: string | boolean | Buffer | readonly unknown[] | object): Buffer {
  if (typeof value === 'boolean') return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    const head = Buffer.alloc(5, 0xdb);
    head.writeUInt32BE(text.length, 1);
    return Buffer.concat([head, text]);
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([Buffer.from([0xc4, value.length]), value]);
  if (Array.isArray(value)) {
    return Buffer.concat([Buffer.from([0x90 | value.length]), ...value.map(encodeAny)]);
  }
  const members = Object.entries(value).flat().map(encodeAny);
  return Buffer.concat([Buffer.from([0x80 | (members.length / 2)]), ...members]);
}

function encodeAny(value: unknown): Buffer {
  return encode(value as object);
}
