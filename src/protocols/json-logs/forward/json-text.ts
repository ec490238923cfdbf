/** Values of MessagePack as JSON, without building their objects. */
import { type Head, headAt, malformed } from './msgpack.ts';

/** EventTime: seconds and nanoseconds, 4 bytes each. */
const eventTimeType = 0;

export class JsonText {
  readonly #bytes: Buffer;
  readonly #head: Head;
  readonly #maxDepth: number;
  #text: string[] = [];
  /** Position after the last value. */
  end = 0;

  constructor(bytes: Buffer, head: Head, maxDepth: number) {
    this.#bytes = bytes;
    this.#head = head;
    this.#maxDepth = maxDepth;
  }

  /** @param depth levels that the value is nested in. @throws AppError `malformed` */
  of(at: number, depth: number): string {
    this.#text = [];
    this.end = this.#value(at, depth);
    return this.#text.length === 1 ? this.#text[0]! : this.#text.join('');
  }

  #pair(at: number, index: number, depth: number): number {
    if (index > 0) this.#text.push(',');
    const { kind } = headAt(this.#bytes, at, this.#head);
    if (kind === 'string' || kind === 'binary') {
      at = this.#value(at, depth);
    } else {
      const start = this.#text.length;
      at = this.#value(at, depth);
      // Keys of JSON are texts.
      this.#text.push(JSON.stringify(this.#text.splice(start).join('')));
    }
    this.#text.push(':');
    return this.#value(at, depth);
  }

  #value(at: number, depth: number): number {
    const head = headAt(this.#bytes, at, this.#head);
    const { kind, size, end } = head;
    if (kind !== 'array' && kind !== 'map') {
      this.#text.push(scalarText(this.#bytes, head));
      return end;
    }
    if (depth >= this.#maxDepth) throw malformed(at, `nested deeper than ${this.#maxDepth}`);
    at = end;
    this.#text.push(kind === 'array' ? '[' : '{');
    for (let index = 0; index < size; index += 1) {
      if (kind === 'map') {
        at = this.#pair(at, index, depth + 1);
      } else {
        if (index > 0) this.#text.push(',');
        at = this.#value(at, depth + 1);
      }
    }
    this.#text.push(kind === 'array' ? ']' : '}');
    return at;
  }
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
