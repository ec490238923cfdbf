/**
 * Reads the entries of a journal into slots. A name may repeat: of fields that fill columns the
 * first counts, labels become lists.
 */
import { createKeyTable, findKey } from '../../../codec/key-table.ts';
import { EventBatch } from '../event-batch.ts';
import { chooseService } from '../choose-fields.ts';
import type { OpenEvents } from '../decode-events.ts';
import { type EventSlots, field, slotOf } from '../event-fields.ts';
import { maxLabels, valueKind } from '../label-set.ts';
import { type TextRange, TextSlots } from '../text-slots.ts';
import { fieldOverheadBytes, type StepLimits } from './entry-steps.ts';
import { readEntry } from './export-format.ts';

const columns = ['MESSAGE', 'PRIORITY', 'SYSLOG_IDENTIFIER', '_HOSTNAME', '__REALTIME_TIMESTAMP'];
const columnTable = createKeyTable(columns);
const slots = columns.map(slotOf);
const unit = Buffer.from('_SYSTEMD_UNIT');
const underscore = 0x5f;
const cutWarning = 'a field or an entry that is too long: cut';

export interface Journal {
  readonly body: Buffer;
  readonly limits: StepLimits;
}

export const openEntries: OpenEvents<Journal> = (journal, workspace, limits) => {
  const batch = new EventBatch(journal.body, workspace, limits);
  return { batch, events: eachEntry(journal, workspace.slots, batch) };
};

function* eachEntry(
  { body, limits }: Journal,
  into: EventSlots,
  batch: EventBatch,
): Generator<number> {
  const entry = new Entry(body, into);
  for (let at = 0; at < body.length; ) {
    entry.clear();
    const end = readEntry(body, at, entry.take);
    if (entry.bytes === 0) break;
    const isCut = entry.longest >= limits.fieldBytes || entry.bytes >= limits.entryBytes;
    if (isCut || entry.hasTooManyLabels) batch.warn(cutWarning);
    entry.finish();
    yield end - at;
    at = end;
  }
}

class Entry {
  bytes = 0;
  /** Bytes of the longest value. */
  longest = 0;
  hasTooManyLabels = false;
  readonly #body: Buffer;
  readonly #slots: EventSlots;
  readonly #texts: TextSlots;
  /** Values of labels that repeat. */
  readonly #lists = new Map<number, string[]>();

  constructor(body: Buffer, into: EventSlots) {
    this.#body = body;
    this.#slots = into;
    this.#texts = new TextSlots(body, into);
  }

  clear(): void {
    this.bytes = 0;
    this.longest = 0;
    this.hasTooManyLabels = false;
    this.#slots.clear();
    if (this.#lists.size > 0) this.#lists.clear();
  }

  readonly take = (name: TextRange, value: TextRange): void => {
    this.bytes += name.end - name.start + fieldOverheadBytes + value.end - value.start;
    this.longest = Math.max(this.longest, value.end - value.start);
    const column = findKey(columnTable, this.#body, name.start, name.end);
    if (column >= 0) {
      const slot = slots[column]!;
      if (this.#slots.isAbsent(slot)) this.#texts.setText(slot, value);
      return;
    }
    const { start } = name;
    // Other fields of two underscores are addresses within the journal.
    if (this.#body[start] === underscore && this.#body[start + 1] === underscore) return;
    this.#takeLabel(name, value);
  };

  finish(): void {
    if (this.#slots.isAbsent(field.systemdMessage)) {
      this.#texts.setText(field.systemdMessage, { start: 0, end: 0 });
    }
    if (chooseService(this.#slots) < 0) this.#texts.fillFromLabel(field.serviceName, unit);
    for (const [label, values] of this.#lists) {
      const list = Buffer.from(JSON.stringify(values));
      this.#slots.labels.give(label, list);
      this.#slots.addedBytes += list.length;
    }
  }

  #takeLabel(name: TextRange, value: TextRange): void {
    const { labels } = this.#slots;
    const { count } = labels;
    const isFull = count >= maxLabels;
    const label = isFull ? this.#findLabel(name) : this.#texts.addLabel(name);
    if (label < 0) {
      this.hasTooManyLabels = true;
    } else if (labels.count > count) {
      this.#texts.setLabel(label, value);
    } else {
      const list = this.#lists.get(label) ?? [this.#labelText(label)];
      list.push(this.#body.toString('utf8', value.start, value.end));
      this.#lists.set(label, list);
    }
  }

  #findLabel({ start, end }: TextRange): number {
    return this.#slots.labels.indexOf(Buffer.from(this.#body.toString('utf8', start, end)));
  }

  #labelText(label: number): string {
    const { kind, given, valueStart, valueEnd } = this.#slots.labels;
    if (kind[label] === valueKind.given) return given[label]!.toString();
    return this.#body.toString('utf8', valueStart[label], valueEnd[label]);
  }
}
