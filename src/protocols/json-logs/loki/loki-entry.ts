/** An entry of Loki in slots: the labels of its stream, its structured metadata, time and line. */
import { failAt, openBrace } from '../../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import { chooseService, chooseSeverity } from '../choose-fields.ts';
import { maxLabelBytes, tooManyLabelBytes } from '../event-batch.ts';
import { type EventSlots, field, fieldTable } from '../event-fields.ts';
import { EventReader, plainEvents } from '../event-reader.ts';
import { type TakeMember, walkMembers } from '../json-walk.ts';
import { type TextRange, TextSlots } from '../text-slots.ts';

/** The entry has fields of these names. */
const reservedTable = createKeyTable(['message', 'timestamp', 'labels']);
/** In order of precedence. */
const serviceLabels = [Buffer.from('app'), Buffer.from('job')];
const severityLabel = Buffer.from('detected_level');

export class EntrySlots {
  readonly #bytes: Buffer;
  readonly #slots: EventSlots;
  readonly #reader: EventReader;
  readonly #texts: TextSlots;

  /** @param bytes of which slots are ranges */
  constructor(bytes: Buffer, slots: EventSlots, maxDepth: number) {
    this.#bytes = bytes;
    this.#slots = slots;
    this.#reader = new EventReader(bytes, slots, maxDepth, plainEvents);
    this.#texts = new TextSlots(bytes, slots);
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

  /** Takes text that is not JSON. */
  setText(index: number, text: TextRange): void {
    this.#texts.setText(index, text);
  }

  /** Takes a label of text that is not JSON. */
  setLabel(name: TextRange, value: TextRange): void {
    const known = findKey(fieldTable, this.#bytes, name.start, name.end);
    if (known >= 0 && findKey(reservedTable, this.#bytes, name.start, name.end) < 0) {
      this.setText(known, value);
      return;
    }
    const label = this.#texts.addLabel(name);
    if (label >= 0) this.#texts.setLabel(label, value);
  }

  /** Fills the service and severity from labels that agents set, which stay. */
  finish(): void {
    const texts = this.#texts;
    if (chooseService(this.#slots) < 0) {
      serviceLabels.some((name) => texts.fillFromLabel(field.serviceName, name));
    }
    if (chooseSeverity(this.#slots) < 0) texts.fillFromLabel(field.severity, severityLabel);
  }

  readonly #takeLabel: TakeMember = (source, start, end, at) =>
    findKey(reservedTable, source, start, end) < 0
      ? this.#reader.readValue(source, start, end, at)
      : this.#reader.readLabel(source, start, end, at);
}
