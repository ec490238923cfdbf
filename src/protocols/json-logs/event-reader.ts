/** Reads one JSON log event into slots without building objects; does not validate the event. */
import {
  openBrace,
  openBracket,
  quote,
  scanText,
  skipScalar,
  skipValue,
} from '../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../codec/key-table.ts';
import { type EventSlots, field, fieldTable, slotKind } from './event-fields.ts';
import { type TakeMember, walkMembers } from './json-walk.ts';
import { labelOrigin, valueKind } from './label-set.ts';

/** A host that is an object must have one of these. */
const hostNames = [field.dottedHost, field.dottedHostname];
const letterN = 0x6e;
const minus = 0x2d;
const dot = 0x2e;

export interface EventDialect {
  /** Whose members become fields with a dotted name: objects of ECS, or all. Others stay JSON. */
  readonly flattened: 'ecs' | 'all';
  /** An event without a message is its own message, and no field rejects it. */
  readonly isTolerant: boolean;
}

export const plainEvents: EventDialect = { flattened: 'ecs', isTolerant: false };
export const tolerantEvents: EventDialect = { flattened: 'ecs', isTolerant: true };
export const documents: EventDialect = { flattened: 'all', isTolerant: true };

/**
 * Reads the event that begins at a brace into slots, with the reason to reject or skip it.
 * @returns the position after it. @throws AppError `malformed`
 */
export type ReadEvent = (at: number) => number;

/** @param slots filled with each event of the buffer */
export type OpenReader = (bytes: Buffer, slots: EventSlots, maxDepth: number) => ReadEvent;

export const openPlainEvents: OpenReader = openDialect(plainEvents);
export const openTolerantEvents: OpenReader = openDialect(tolerantEvents);

function openDialect(dialect: EventDialect): OpenReader {
  return (bytes, slots, maxDepth) => {
    const reader = new EventReader(bytes, slots, maxDepth, dialect);
    return (at) => reader.read(at);
  };
}

/** Objects of ECS with fields that have columns, errors and fields of loggers, and Kubernetes. */
export const ecsTable = createKeyTable([
  'error',
  'err',
  'fields',
  'host',
  'instant',
  'kubernetes',
  'log',
  'record',
  'service',
  'span',
  'trace',
  'transaction',
]);
/** Objects nested deeper, or below longer names, stay JSON: names are repeated in each member. */
export const maxLevels = 4;
export const maxPrefixBytes = 64;
const firstNameBytes = 4096;
const maxKeptNameBytes = 64 * 1024;

interface Place {
  /** The position of a value, and how many names it is below. */
  readonly at: number;
  readonly level: number;
}

export class EventReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #slots: EventSlots;
  readonly #maxDepth: number;
  readonly #dialect: EventDialect;
  /** Dotted names of this event. */
  #names = Buffer.allocUnsafe(0);
  #namesUsed = 0;

  constructor(bytes: Buffer, slots: EventSlots, maxDepth: number, dialect: EventDialect) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#slots = slots;
    this.#maxDepth = maxDepth;
    this.#dialect = dialect;
  }

  /** Implements `ReadEvent`. */
  read(at: number): number {
    this.clear();
    const end = walkMembers(this.#bytes, at, this.#takeField);
    if (this.#dialect.isTolerant) this.#slots.set(field.whole, slotKind.other, at, end);
    return end;
  }

  clear(): void {
    this.#slots.clear();
    this.#namesUsed = 0;
    if (this.#names.length > maxKeptNameBytes) this.#names = Buffer.allocUnsafe(firstNameBytes);
  }

  /** Reads the members of an object beside those that were read. @returns the position after it */
  readMore(at: number): number {
    return walkMembers(this.#bytes, at, this.#takeField);
  }

  /** Reads a value into a slot. @returns the position after it */
  readField(index: number, at: number): number {
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

  /** Reads the value of a top-level key, the range of `source`. @returns the position after it */
  readValue(source: Buffer, start: number, end: number, at: number): number {
    const known = findKey(fieldTable, source, start, end);
    if (known === field.labels) return this.#readLabels(at);
    if (this.#bytes[at] === openBrace && this.#isFlattened(source, start, end)) {
      const after = this.#readNested(source, start, end, { at, level: 1 });
      const isHost = known === field.host && !this.#dialect.isTolerant;
      if (isHost && !hostNames.some((name) => this.#slots.isString(name))) {
        this.#slots.set(field.host, slotKind.other, at, after);
      }
      return after;
    }
    if (known >= 0) return this.readField(known, at);
    return this.readLabel(source, start, end, at);
  }

  /** Reads the value of a label, whose key is the range of `source`. @returns the position after */
  readLabel(source: Buffer, start: number, end: number, at: number): number {
    return this.#readLabel(this.#slots.labels.add(source, start, end, labelOrigin.topLevel), at);
  }

  readonly #takeField: TakeMember = (source, start, end, at) =>
    this.readValue(source, start, end, at);

  readonly #takeLabel: TakeMember = (source, start, end, at) =>
    this.#readLabel(this.#slots.labels.add(source, start, end, labelOrigin.labelsObject), at);

  #isFlattened(source: Buffer, start: number, end: number): boolean {
    if (end - start > maxPrefixBytes) return false;
    return this.#dialect.flattened === 'all' || findKey(ecsTable, source, start, end) >= 0;
  }

  /** Reads an object whose members have the name of their object before their own. */
  #readNested(source: Buffer, start: number, end: number, place: Place): number {
    const level = place.level + 1;
    return walkMembers(this.#bytes, place.at, (key, keyStart, keyEnd, at) => {
      const bytes = end - start + 1 + keyEnd - keyStart;
      const nameAt = this.#reserveName(bytes);
      const names = this.#names;
      const dotAt = nameAt + source.copy(names, nameAt, start, end);
      names[dotAt] = dot;
      key.copy(names, dotAt + 1, keyStart, keyEnd);
      return this.#readNamed(names, nameAt, nameAt + bytes, { at, level });
    });
  }

  #readNamed(names: Buffer, start: number, end: number, place: Place): number {
    const { at, level } = place;
    if (this.#bytes[at] === openBrace && level <= maxLevels && end - start <= maxPrefixBytes) {
      return this.#readNested(names, start, end, place);
    }
    const known = findKey(fieldTable, names, start, end);
    if (known >= 0) return this.readField(known, at);
    return this.#readLabel(this.#slots.labels.add(names, start, end, labelOrigin.topLevel), at);
  }

  /** @returns the position in `#names` */
  #reserveName(bytes: number): number {
    if (this.#names.length - this.#namesUsed < bytes) {
      // Labels of the event keep the earlier buffer.
      this.#names = Buffer.allocUnsafe(Math.max(firstNameBytes, bytes, 2 * this.#names.length));
      this.#namesUsed = 0;
    }
    const at = this.#namesUsed;
    this.#namesUsed += bytes;
    this.#slots.addedBytes += bytes;
    return at;
  }

  /** The last of repeated `labels` objects counts, as for other keys. */
  #readLabels(at: number): number {
    this.#slots.labels.dropLabelsObject();
    this.#slots.kind[field.labels] = slotKind.absent;
    if (this.#bytes[at] === openBrace) return walkMembers(this.#bytes, at, this.#takeLabel);
    return this.readField(field.labels, at);
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
