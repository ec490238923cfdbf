/** An entry of Loki in slots: the labels of its stream, its structured metadata, time and line. */
import { isUtf8 } from 'node:buffer';
import { failAt, openBrace } from '../../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import { chooseService, chooseSeverity } from '../choose-fields.ts';
import { maxLabelBytes, tooManyLabelBytes } from '../event-batch.ts';
import { type EventSlots, field, fieldTable, slotKind } from '../event-fields.ts';
import { EventReader, plainEvents } from '../event-reader.ts';
import { type TakeMember, walkMembers } from '../json-walk.ts';
import { labelOrigin, valueKind } from '../label-set.ts';

/** The entry has fields of these names. */
const reservedTable = createKeyTable(['message', 'timestamp', 'labels']);
/** In order of precedence. */
const serviceLabels = [Buffer.from('app'), Buffer.from('job')];
const severityLabels = [Buffer.from('detected_level')];
/** U+FFFD has three bytes; a text may be a label and fill a column. */
const repairFactor = 6;

/** For longer texts `isUtf8` is faster than a loop. */
const quickTextBytes = 256;

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export class EntrySlots {
  readonly #bytes: Buffer;
  readonly #slots: EventSlots;
  readonly #reader: EventReader;

  /** @param bytes of which slots are ranges */
  constructor(bytes: Buffer, slots: EventSlots, maxDepth: number) {
    this.#bytes = bytes;
    this.#slots = slots;
    this.#reader = new EventReader(bytes, slots, maxDepth, plainEvents);
  }

  clear(): void {
    this.#reader.clear();
  }

  /** Takes a JSON object of labels. @returns the position after it. @throws AppError `malformed` */
  readLabels(at: number): number {
    if (this.#bytes[at] !== openBrace) failAt(this.#bytes, at, 'an object of labels');
    const end = walkMembers(this.#bytes, at, this.#takeLabel);
    if (end - at > maxLabelBytes) throw tooManyLabelBytes();
    return end;
  }

  /** Takes the JSON string at `at`. @returns the position after it */
  readText(index: number, at: number): number {
    return this.#reader.readField(index, at);
  }

  /** Takes a range of text that is not JSON. */
  setText(index: number, { start, end }: TextRange): void {
    const isText = this.#isUtf8(start, end);
    if (!isText) this.#slots.addedBytes += repairFactor * (end - start);
    this.#slots.set(index, isText ? slotKind.plainString : slotKind.brokenString, start, end);
  }

  /** Takes a label of text that is not JSON. */
  setLabel(name: TextRange, value: TextRange): void {
    const bytes = this.#bytes;
    const known = findKey(fieldTable, bytes, name.start, name.end);
    if (known >= 0 && findKey(reservedTable, bytes, name.start, name.end) < 0) {
      this.setText(known, value);
      return;
    }
    const { labels } = this.#slots;
    const label = this.#isUtf8(name.start, name.end)
      ? labels.add(bytes, name.start, name.end, labelOrigin.topLevel)
      : this.#addRepaired(name);
    if (label < 0) return;
    if (this.#isUtf8(value.start, value.end)) {
      labels.set(label, valueKind.verbatim, value.start, value.end);
    } else {
      labels.give(label, this.#repair(value));
    }
  }

  /** Fills the service and severity from labels that agents set, which stay. */
  finish(): void {
    if (chooseService(this.#slots) < 0) this.#fill(field.serviceName, serviceLabels);
    if (chooseSeverity(this.#slots) < 0) this.#fill(field.severity, severityLabels);
  }

  readonly #takeLabel: TakeMember = (source, start, end, at) =>
    findKey(reservedTable, source, start, end) < 0
      ? this.#reader.readValue(source, start, end, at)
      : this.#reader.readLabel(source, start, end, at);

  #fill(index: number, names: readonly Buffer[]): void {
    const { labels } = this.#slots;
    for (const name of names) {
      const label = labels.indexOf(name);
      if (label < 0) continue;
      const kind = labels.kind[label];
      if (kind !== valueKind.verbatim && kind !== valueKind.escaped) continue;
      const slot = kind === valueKind.verbatim ? slotKind.plainString : slotKind.escapedString;
      this.#slots.set(index, slot, labels.valueStart[label]!, labels.valueEnd[label]!);
      return;
    }
  }

  #isUtf8(start: number, end: number): boolean {
    const bytes = this.#bytes;
    const quickEnd = Math.min(end, start + quickTextBytes);
    let at = start;
    while (at < quickEnd && bytes[at]! < 0x80) at += 1;
    return at === end || isUtf8(bytes.subarray(start, end));
  }

  #addRepaired(name: TextRange): number {
    const key = this.#repair(name);
    return this.#slots.labels.add(key, 0, key.length, labelOrigin.topLevel);
  }

  #repair({ start, end }: TextRange): Buffer {
    this.#slots.addedBytes += repairFactor * (end - start);
    return Buffer.from(this.#bytes.toString('utf8', start, end));
  }
}
