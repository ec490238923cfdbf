/** Reads one JSON log event into slots without building objects; does not validate the event. */
import {
  closeBrace,
  comma,
  expectColon,
  failAt,
  openBrace,
  openBracket,
  quote,
  scanString,
  scanText,
  skipScalar,
  skipSpace,
  skipValue,
  unescape,
} from '../../codec/json-scanner.ts';
import { findKey } from '../../codec/key-table.ts';
import { type EventSlots, field, fieldTable, slotKind } from './event-fields.ts';
import { type LabelOrigin, labelOrigin, valueKind } from './label-set.ts';

const letterN = 0x6e;
const minus = 0x2d;

export class EventReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #slots: EventSlots;
  readonly #maxDepth: number;

  constructor(bytes: Buffer, slots: EventSlots, maxDepth: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#slots = slots;
    this.#maxDepth = maxDepth;
  }

  /**
   * @param at the position of the opening brace
   * @returns the position after the event
   * @throws AppError `malformed`
   */
  read(at: number): number {
    this.#slots.clear();
    return this.#readMembers(at, labelOrigin.topLevel);
  }

  #readMembers(at: number, origin: LabelOrigin): number {
    const bytes = this.#bytes;
    at = skipSpace(bytes, at + 1);
    if (bytes[at] === closeBrace) return at + 1;
    for (;;) {
      if (bytes[at] !== quote) failAt(bytes, at, 'a key in quotes');
      at = skipSpace(bytes, this.#readMember(at + 1, origin));
      if (bytes[at] === closeBrace) return at + 1;
      if (bytes[at] !== comma) failAt(bytes, at, "',' or '}'");
      at = skipSpace(bytes, at + 1);
    }
  }

  /** @param at the position after the opening quote of the key */
  #readMember(at: number, origin: LabelOrigin): number {
    const bytes = this.#bytes;
    const scanned = scanString(bytes, at);
    if (scanned >= 0) {
      return this.#readValue(bytes, at, scanned, expectColon(bytes, scanned + 1), origin);
    }
    const key = Buffer.allocUnsafe(~scanned - at);
    const keyLength = unescape(bytes, at, ~scanned, key);
    return this.#readValue(key, 0, keyLength, expectColon(bytes, ~scanned + 1), origin);
  }

  /** @param at the position of the value; its key is the range of `source` */
  #readValue(source: Buffer, start: number, end: number, at: number, origin: LabelOrigin): number {
    const known = origin === labelOrigin.topLevel ? findKey(fieldTable, source, start, end) : -1;
    if (known === field.labels) return this.#readLabels(at);
    if (known >= 0) return this.#readField(known, at);
    return this.#readLabel(this.#slots.labels.add(source, start, end, origin), at);
  }

  /** The last of repeated `labels` objects counts, as for other keys. */
  #readLabels(at: number): number {
    this.#slots.labels.dropLabelsObject();
    this.#slots.kind[field.labels] = slotKind.absent;
    if (this.#bytes[at] === openBrace) return this.#readMembers(at, labelOrigin.labelsObject);
    return this.#readField(field.labels, at);
  }

  #readField(index: number, at: number): number {
    const first = this.#bytes[at]!;
    if (first === quote) {
      const scanned = scanText(this.#bytes, this.#view, at + 1);
      const end = scanned < 0 ? ~scanned : scanned;
      const kind = scanned < 0 ? slotKind.escapedString : slotKind.plainString;
      this.#slots.set(index, kind, at + 1, end);
      return end + 1;
    }
    const end = skipValue(this.#bytes, at, this.#maxDepth - 1);
    this.#slots.set(index, toSlotKind(first), at, end);
    return end;
  }

  /** @param index of the label, or -1 to skip the value */
  #readLabel(index: number, at: number): number {
    const bytes = this.#bytes;
    const labels = this.#slots.labels;
    const first = bytes[at];
    if (first === quote) {
      const scanned = scanText(bytes, this.#view, at + 1);
      const end = scanned < 0 ? ~scanned : scanned;
      if (index >= 0) {
        labels.set(index, scanned < 0 ? valueKind.escaped : valueKind.verbatim, at + 1, end);
      }
      return end + 1;
    }
    const nested = first === openBrace || first === openBracket;
    const end = nested ? skipValue(bytes, at, this.#maxDepth - 1) : skipScalar(bytes, at);
    if (index >= 0) {
      labels.set(index, first === letterN ? valueKind.absent : valueKind.verbatim, at, end);
    }
    return end;
  }
}

function toSlotKind(first: number): number {
  if (first === letterN) return slotKind.absent;
  const digit = first >= 0x30 && first <= 0x39;
  return digit || first === minus ? slotKind.number : slotKind.other;
}
