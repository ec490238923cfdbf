/**
 * Reads records of MessagePack into slots, with the names of tolerant JSON events: strings are
 * ranges of the message, other values become their JSON.
 */
import { findKey } from '../../../codec/key-table.ts';
import { chooseMessage } from '../choose-fields.ts';
import { type EventSlots, field, fieldKeys, fieldTable, slotKind } from '../event-fields.ts';
import { ecsTable, maxLevels, maxPrefixBytes } from '../event-reader.ts';
import { labelOrigin, type LabelOrigin, valueKind } from '../label-set.ts';
import { isText, TextSlots } from '../text-slots.ts';
import { isEventTime, JsonText, maxElements, scalarText } from './json-text.ts';
import { Head, headAt, type Kind, malformed, skipValue } from './msgpack.ts';

const dot = 0x2e;
const quotes = '"';
const quote = 0x22;
const digitOrMinus = /^[\d-]/;
/** Of a number, `true`, `false` or a time that fills a slot. */
const scalarBytes = 32;
const tagKey = Buffer.from('tag');
/** Of the names and values of labels that are not in the message. */
const addedLabelBytes = 64;
const tooManyElements = `more than ${maxElements} elements in arrays and maps`;

export class RecordSlots {
  /** The message, and behind it a place for each field that is no string. */
  readonly bytes: Buffer;
  readonly #message: Buffer;
  readonly #slots: EventSlots;
  readonly #texts: TextSlots;
  readonly #head = new Head();
  readonly #json: JsonText;
  /** The last name that was read, as a range. */
  #name: Buffer;
  #nameStart = 0;
  #nameEnd = 0;
  /** Of the record and its objects. */
  #members = 0;

  constructor(message: Buffer, slots: EventSlots, maxDepth: number) {
    this.bytes = Buffer.allocUnsafeSlow(message.length + fieldKeys.length * scalarBytes);
    message.copy(this.bytes);
    this.#message = this.bytes.subarray(0, message.length);
    this.#slots = slots;
    this.#texts = new TextSlots(this.bytes, slots);
    this.#json = new JsonText(this.#message, this.#head, maxDepth);
    this.#name = this.bytes;
  }

  /**
   * @param timeAt position of the time of the record, `at` that of the record
   * @returns the position after the record. @throws AppError `malformed`
   */
  read(tag: Buffer, timeAt: number, at: number): number {
    const slots = this.#slots;
    slots.clear();
    this.#json.clear();
    this.#members = 0;
    slots.labels.give(slots.labels.add(tagKey, 0, tagKey.length, labelOrigin.topLevel), tag);
    this.#readTime(timeAt);
    const head = headAt(this.#message, at, this.#head);
    if (head.kind !== 'map') throw malformed(at, 'a record must be a map');
    const next = this.#readMembers(head.end, head.size, (valueAt) =>
      this.#readValue(this.#name, this.#nameStart, this.#nameEnd, { at: valueAt, level: 1 }),
    );
    slots.addedBytes += tag.length + addedLabelBytes;
    if (this.#members > maxElements) slots.fault = tooManyElements;
    if (slots.fault !== '') return next;
    // What may be stored as a whole is never rejected for a field.
    slots.set(field.whole, slotKind.other, at, at);
    if (!slots.isString(chooseMessage(slots))) slots.giveMessage(this.#json.of(at, 0));
    if (this.#json.hasTooManyElements) slots.fault = tooManyElements;
    return next;
  }

  /** fluentd 1.16 may send `[time, metadata]` in place of the time. */
  #readTime(at: number): void {
    let head = headAt(this.#message, at, this.#head);
    if (head.kind === 'array' && head.size > 0) {
      at = head.end;
      head = headAt(this.#message, at, head);
    }
    if (head.kind === 'nil') return;
    if (!isTime(head)) {
      throw malformed(at, 'a time must be a number');
    }
    const text = scalarText(this.#message, head);
    if (text !== '0') this.#setScalar(field.timestamp, text);
  }

  /** Sets the name. @returns the position after it */
  #readName(at: number): number {
    const { kind, start, end } = headAt(this.#message, at, this.#head);
    const isBytes = isString(kind);
    if (isBytes && isText(this.#message, start, end)) {
      this.#setName(this.bytes, start, end);
      return end;
    }
    const name = isBytes
      ? Buffer.from(this.#message.toString('utf8', start, end))
      : this.#json.of(at, 1);
    this.#slots.addedBytes += name.length;
    this.#setName(name, 0, name.length);
    return isBytes ? end : this.#json.end;
  }

  #setName(source: Buffer, start: number, end: number): void {
    this.#name = source;
    this.#nameStart = start;
    this.#nameEnd = end;
  }

  /** Reads the value of a name. @returns the position after it */
  #readValue(name: Buffer, start: number, end: number, { at, level }: Place): number {
    const known = findKey(fieldTable, name, start, end);
    const head = headAt(this.#message, at, this.#head);
    if (head.kind === 'map') {
      if (known === field.labels && level === 1) return this.#readLabels();
      const isObject = level > 1 || findKey(ecsTable, name, start, end) >= 0;
      if (isObject && level <= maxLevels && end - start <= maxPrefixBytes) {
        return this.#readNested(name.subarray(start, end), level);
      }
    } else if (known >= 0 && isScalar(head)) {
      return this.#readField(known);
    }
    return this.#readLabel(name, start, end, { at, level });
  }

  /** Reads the map of the head, whose members have its name before their own. */
  #readNested(prefix: Buffer, level: number): number {
    const { size, end } = this.#head;
    return this.#readMembers(end, size, (at) => {
      const bytes = prefix.length + 1 + this.#nameEnd - this.#nameStart;
      const name = Buffer.allocUnsafe(bytes);
      const dotAt = prefix.copy(name);
      name[dotAt] = dot;
      this.#name.copy(name, dotAt + 1, this.#nameStart, this.#nameEnd);
      this.#slots.addedBytes += bytes;
      return this.#readValue(name, 0, bytes, { at, level: level + 1 });
    });
  }

  /** The last of repeated `labels` counts, as for other names. */
  #readLabels(): number {
    const { size, end } = this.#head;
    this.#slots.labels.dropLabelsObject();
    this.#slots.kind[field.labels] = slotKind.absent;
    return this.#readMembers(end, size, (at) => {
      const place = { at, level: 1, origin: labelOrigin.labelsObject };
      return this.#readLabel(this.#name, this.#nameStart, this.#nameEnd, place);
    });
  }

  /**
   * Sets the name of each member and reads its value.
   * @returns the position after the last one
   */
  #readMembers(first: number, count: number, read: (at: number) => number): number {
    let at = first;
    for (let left = count; left > 0; left -= 1) {
      this.#members += 1;
      if (this.#members > maxElements) {
        for (let skipped = 2 * left; skipped > 0; skipped -= 1) {
          at = skipValue(this.#message, at, this.#head);
        }
        return at;
      }
      at = read(this.#readName(at));
    }
    return at;
  }

  #readLabel(name: Buffer, start: number, end: number, place: Place): number {
    const { labels } = this.#slots;
    const { at, level, origin = labelOrigin.topLevel } = place;
    const label = labels.add(name, start, end, origin);
    if (label < 0) return skipValue(this.#message, at, this.#head);
    const head = headAt(this.#message, at, this.#head);
    if (isString(head.kind)) {
      this.#texts.setLabel(label, { start: head.start, end: head.end });
      return head.end;
    }
    if (head.kind === 'nil') {
      labels.set(label, valueKind.absent, at, at);
      return head.end;
    }
    const value = unquoted(this.#json.of(at, level));
    this.#slots.addedBytes += value.length;
    labels.give(label, value);
    return this.#json.end;
  }

  /** Reads the scalar of the head into a slot. */
  #readField(index: number): number {
    const { kind, start, end } = this.#head;
    if (isString(kind)) this.#texts.setText(index, { start, end });
    else if (kind === 'nil') this.#slots.set(index, slotKind.absent, start, start);
    else this.#setScalar(index, scalarText(this.#message, this.#head));
    return end;
  }

  /** @param text JSON of at most `scalarBytes` */
  #setScalar(index: number, text: string): void {
    const start = this.#message.length + index * scalarBytes;
    const value = withoutQuotes(text);
    const end = start + this.bytes.write(value, start, scalarBytes, 'latin1');
    const isNumber = digitOrMinus.test(text);
    const other = value.length < text.length ? slotKind.plainString : slotKind.other;
    this.#slots.set(index, isNumber ? slotKind.number : other, start, end);
  }
}

interface Place {
  readonly at: number;
  /** Names that the value is below. */
  readonly level: number;
  readonly origin?: LabelOrigin;
}

/** Whether it fills a slot. */
function isScalar(head: Head): boolean {
  if (head.kind === 'extension') return isEventTime(head);
  return head.kind !== 'array' && head.kind !== 'map';
}

function isTime(head: Head): boolean {
  const { kind } = head;
  return kind === 'uint' || kind === 'int' || kind === 'float' || isEventTime(head);
}

function isString(kind: Kind): boolean {
  return kind === 'string' || kind === 'binary';
}

/** Of NaN and of bytes in base64, which are strings in JSON. */
function withoutQuotes(json: string): string {
  return json.startsWith(quotes) ? json.slice(1, -1) : json;
}

function unquoted(json: Buffer): Buffer {
  return json[0] === quote ? json.subarray(1, -1) : json;
}
