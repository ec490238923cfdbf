/** Records of MessagePack as JSON events, without building their objects. */
import { eventNames } from '../../model/event-names.ts';
import { type Head, headAt, malformed } from './msgpack.ts';

/** As they are written. */
const messageKeys: ReadonlySet<string | undefined> = new Set(
  eventNames.message.map((name) => JSON.stringify(name)),
);
/** EventTime: seconds and nanoseconds, 4 bytes each. */
const eventTimeType = 0;

export class RecordWriter {
  readonly #bytes: Buffer;
  readonly #head: Head;
  readonly #maxDepth: number;
  #text: string[] = [];

  constructor(bytes: Buffer, head: Head, maxDepth: number) {
    this.#bytes = bytes;
    this.#head = head;
    this.#maxDepth = maxDepth;
  }

  /**
   * Writes an event in one line.
   * @param members of the event besides the record, each with a comma behind it
   * @returns the line, and the position after the record. @throws AppError `malformed`
   */
  write(at: number, members: string): { readonly line: string; readonly end: number } {
    const head = headAt(this.#bytes, at, this.#head);
    if (head.kind !== 'map') throw malformed(at, 'a record must be a map');
    this.#text = [];
    let hasMessage = false;
    const pairs = head.size;
    at = head.end;
    for (let pair = 0; pair < pairs; pair += 1) {
      const keyAt = this.#text.length;
      at = this.#pair(at, pair, 1);
      const key = this.#text[keyAt + (pair > 0 ? 1 : 0)];
      hasMessage ||= this.#lastKind === 'string' && messageKeys.has(key);
    }
    const record = this.#text.join('');
    // The last of two members counts.
    const message = hasMessage ? '' : `"message":${JSON.stringify(`{${record}}`)}`;
    const comma = record === '' || message === '' ? '' : ',';
    return { line: `{${members}${record}${comma}${message}}`, end: at };
  }

  #lastKind = '';

  #pair(at: number, index: number, depth: number): number {
    if (index > 0) this.#text.push(',');
    const key = headAt(this.#bytes, at, this.#head);
    const { kind } = key;
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
    const bytes = this.#bytes;
    const { kind, start, size, end, type } = headAt(bytes, at, this.#head);
    if (kind === 'array' || kind === 'map') {
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
      this.#lastKind = kind;
      return at;
    }
    this.#text.push(this.#scalar(kind, { start, size, type }));
    this.#lastKind = kind === 'binary' ? 'string' : kind;
    return end;
  }

  #scalar(kind: string, at: { start: number; size: number; type: number }): string {
    const { start, size, type } = at;
    const bytes = this.#bytes;
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
      case 'extension': {
        const time = type === eventTimeType && size === 8 ? eventTimeAt(bytes, start) : undefined;
        return time ?? JSON.stringify(bytes.toString('base64', start, start + size));
      }
      default:
        return JSON.stringify(bytes.toString('utf8', start, start + size));
    }
  }

  /** The time of an entry as JSON; undefined if it has none. */
  time(at: number): string | undefined {
    const { kind, start, size, type } = headAt(this.#bytes, at, this.#head);
    if (kind === 'extension' && type === eventTimeType && size === 8) {
      return eventTimeAt(this.#bytes, start);
    }
    if (kind === 'nil') return undefined;
    if (kind !== 'uint' && kind !== 'float') throw malformed(at, 'a time must be a number');
    const text = this.#scalar(kind, { start, size, type });
    return text === '0' ? undefined : text;
  }
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
