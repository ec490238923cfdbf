/** Values of MessagePack as JSON, without building their objects. */
import { TextWriter } from '../../../codec/text-writer.ts';
import { type Head, headAt, type Kind, malformed, skipValue } from './msgpack.ts';

/** EventTime: seconds and nanoseconds, 4 bytes each. */
const eventTimeType = 0;
const firstBytes = 256;
/** Of a key that is an array or a map: as a text in a text its escapes double at each level. */
const maxKeyBytes = 64 * 1024;
/** An element may have one byte but costs as much as a hundred bytes of text. */
export const maxElements = 100_000;

export class JsonText {
  readonly #bytes: Buffer;
  readonly #head: Head;
  readonly #maxDepth: number;
  #text = new TextWriter(0);
  /** Position after the last value. */
  end = 0;
  #elements = 0;

  constructor(bytes: Buffer, head: Head, maxDepth: number) {
    this.#bytes = bytes;
    this.#head = head;
    this.#maxDepth = maxDepth;
  }

  /** Begins to count the elements of a record. */
  clear(): void {
    this.#elements = 0;
  }

  /** Whether texts since `clear` are incomplete. */
  get hasTooManyElements(): boolean {
    return this.#elements > maxElements;
  }

  /** @param depth levels that the value is nested in. @throws AppError `malformed` */
  of(at: number, depth: number): Buffer {
    const head = headAt(this.#bytes, at, this.#head);
    if (!isContainer(head.kind)) {
      this.end = head.end;
      return Buffer.from(scalarText(this.#bytes, head));
    }
    this.#text = new TextWriter(firstBytes);
    this.end = this.#value(at, depth);
    return this.#text.finish();
  }

  #pair(at: number, index: number, depth: number): number {
    if (index > 0) this.#text.write(',');
    const { kind } = headAt(this.#bytes, at, this.#head);
    const isText = kind === 'string' || kind === 'binary';
    at = isText ? this.#value(at, depth) : this.#key(at, depth);
    this.#text.write(':');
    return this.#value(at, depth);
  }

  /** Keys of JSON are texts. */
  #key(at: number, depth: number): number {
    const text = this.#text;
    this.#text = new TextWriter(firstBytes);
    const end = this.#value(at, depth);
    const key = this.#text.finish();
    if (key.length > maxKeyBytes) throw malformed(at, `a key has more than ${maxKeyBytes} bytes`);
    this.#text = text;
    text.write(JSON.stringify(key.toString()));
    return end;
  }

  #value(at: number, depth: number): number {
    const head = headAt(this.#bytes, at, this.#head);
    const { kind, size, end } = head;
    if (!isContainer(kind)) {
      this.#text.write(scalarText(this.#bytes, head));
      return end;
    }
    if (depth >= this.#maxDepth) throw malformed(at, `nested deeper than ${this.#maxDepth}`);
    at = end;
    this.#text.write(kind === 'array' ? '[' : '{');
    for (let index = 0; index < size; index += 1) {
      this.#elements += 1;
      if (this.hasTooManyElements) return this.#skip(at, (size - index) * (kind === 'map' ? 2 : 1));
      if (kind === 'map') {
        at = this.#pair(at, index, depth + 1);
      } else {
        if (index > 0) this.#text.write(',');
        at = this.#value(at, depth + 1);
      }
    }
    this.#text.write(kind === 'array' ? ']' : '}');
    return at;
  }

  #skip(at: number, values: number): number {
    for (let left = values; left > 0; left -= 1) at = skipValue(this.#bytes, at, this.#head);
    return at;
  }
}

function isContainer(kind: Kind): boolean {
  return kind === 'array' || kind === 'map';
}

/** @param head of a value that is no array or map. @returns its JSON */
export function scalarText(bytes: Buffer, head: Head): string {
  const { kind, start, size } = head;
  switch (kind) {
    case 'nil':
      return 'null';
    case 'true':
    case 'false':
      return kind;
    case 'uint':
      return size === 8
        ? String(bytes.readBigUInt64BE(start))
        : String(bytes.readUIntBE(start, size));
    case 'int':
      return size === 8
        ? String(bytes.readBigInt64BE(start))
        : String(bytes.readIntBE(start, size));
    case 'float':
      return toNumber(size === 4 ? bytes.readFloatBE(start) : bytes.readDoubleBE(start));
    case 'extension':
      return isEventTime(head)
        ? eventTimeAt(bytes, start)
        : JSON.stringify(bytes.toString('base64', start, start + size));
    default:
      return JSON.stringify(bytes.toString('utf8', start, start + size));
  }
}

export function isEventTime({ kind, type, size }: Head): boolean {
  return kind === 'extension' && type === eventTimeType && size === 8;
}

function toNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}

/** Unix time in seconds with nine digits behind the point. */
function eventTimeAt(bytes: Buffer, at: number): string {
  const nanos = String(bytes.readUInt32BE(at + 4))
    .padStart(9, '0')
    .slice(-9);
  return `${bytes.readUInt32BE(at)}.${nanos}`;
}
