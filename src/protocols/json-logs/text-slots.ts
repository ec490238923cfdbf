/** Fills slots with ranges of text that is not JSON, such as strings of protobuf. */
import { isUtf8 } from 'node:buffer';
import { type EventSlots, slotKind } from './event-fields.ts';
import { labelOrigin, valueKind } from './label-set.ts';

/** U+FFFD has three bytes; a text may be a label and fill a column. */
const repairFactor = 6;
/** For longer texts `isUtf8` is faster than a loop. */
const quickTextBytes = 256;

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Bytes that are not UTF-8 are repaired. */
export class TextSlots {
  readonly #bytes: Buffer;
  readonly #slots: EventSlots;

  /** @param bytes of which slots are ranges */
  constructor(bytes: Buffer, slots: EventSlots) {
    this.#bytes = bytes;
    this.#slots = slots;
  }

  /** @param index of the slot */
  setText(index: number, { start, end }: TextRange): void {
    const isPlain = isText(this.#bytes, start, end);
    if (!isPlain) this.#slots.addedBytes += repairFactor * (end - start);
    this.#slots.set(index, isPlain ? slotKind.plainString : slotKind.brokenString, start, end);
  }

  /** @returns the index of the label, or -1 if the event has too many */
  addLabel({ start, end }: TextRange): number {
    const { labels } = this.#slots;
    if (isText(this.#bytes, start, end)) {
      return labels.add(this.#bytes, start, end, labelOrigin.topLevel);
    }
    const key = this.#repair(start, end);
    return labels.add(key, 0, key.length, labelOrigin.topLevel);
  }

  setLabel(label: number, { start, end }: TextRange): void {
    const { labels } = this.#slots;
    if (isText(this.#bytes, start, end)) labels.set(label, valueKind.verbatim, start, end);
    else labels.give(label, this.#repair(start, end));
  }

  /** Fills a field with the value of a label, which stays. @returns false without such a label */
  fillFromLabel(index: number, name: Buffer): boolean {
    const { labels } = this.#slots;
    const label = labels.indexOf(name);
    const kind = label < 0 ? valueKind.absent : labels.kind[label];
    if (kind !== valueKind.verbatim && kind !== valueKind.escaped) return false;
    const slot = kind === valueKind.verbatim ? slotKind.plainString : slotKind.escapedString;
    this.#slots.set(index, slot, labels.valueStart[label]!, labels.valueEnd[label]!);
    return true;
  }

  #repair(start: number, end: number): Buffer {
    this.#slots.addedBytes += repairFactor * (end - start);
    return Buffer.from(this.#bytes.toString('utf8', start, end));
  }
}

/** Whether the range is UTF-8. */
export function isText(bytes: Buffer, start: number, end: number): boolean {
  const quickEnd = Math.min(end, start + quickTextBytes);
  let at = start;
  while (at < quickEnd && bytes[at]! < 0x80) at += 1;
  return at === end || isUtf8(bytes.subarray(start, end));
}
