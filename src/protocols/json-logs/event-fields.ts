/** The known top-level keys of a JSON log event, and the slots for their values. */
import { createKeyTable } from '../../codec/key-table.ts';
import { eventNames } from '../../model/event-names.ts';
import { LabelSet } from './label-set.ts';

const knownKeys: readonly string[] = [
  ...Object.values(eventNames).flat(),
  'service_namespace',
  'labels',
  'name',
  'instant.nanoOfSecond',
];

/** Slot numbers. */
export const field = {
  message: slotOf('message'),
  log: slotOf('log'),
  shortMessage: slotOf('short_message'),
  severity: slotOf('severity'),
  level: slotOf('level'),
  levelName: slotOf('level_name'),
  priority: slotOf('PRIORITY'),
  systemdMessage: slotOf('MESSAGE'),
  serviceName: slotOf('service_name'),
  serviceNamespace: slotOf('service_namespace'),
  name: slotOf('name'),
  host: slotOf('host'),
  dottedHost: slotOf('host.name'),
  dottedHostname: slotOf('host.hostname'),
  labels: slotOf('labels'),
  timestamp: slotOf('timestamp'),
  epochSecond: slotOf('instant.epochSecond'),
  nanoOfSecond: slotOf('instant.nanoOfSecond'),
  /** Filled from beside the event: the time and host of an envelope, and the event as a whole. */
  givenTime: knownKeys.length,
  givenHost: knownKeys.length + 1,
  whole: knownKeys.length + 2,
};

export const fieldKeys: readonly string[] = [...knownKeys, 'time', 'host', ''];
export const fieldTable = createKeyTable(knownKeys);

/** @param key one of the known keys */
export function slotOf(key: string): number {
  return knownKeys.indexOf(key);
}

/** Kind of the value in a slot; null counts as absent. */
export const slotKind = {
  absent: 0,
  plainString: 1,
  escapedString: 2,
  number: 3,
  /** An object, an array or a boolean. */
  other: 4,
  /** Bytes that are not UTF-8, which are repaired when they are written. */
  brokenString: 5,
  /** A message that is not in the body. */
  given: 6,
} as const;

const noText: Buffer = Buffer.alloc(0);
const use = { none: 0, filled: 1, column: 2 } as const;

/** One event as ranges of the body. Reused from event to event. */
export class EventSlots {
  readonly kind = new Uint8Array(fieldKeys.length);
  readonly start = new Int32Array(fieldKeys.length);
  readonly end = new Int32Array(fieldKeys.length);
  readonly labels = new LabelSet();
  /** Bytes that labels have beside those of the event. */
  addedBytes = 0;
  /** The text of kind `given`. */
  given = noText;
  /** Why the event cannot be stored, apart from its fields; '' = it can. */
  fault = '';
  /** The event is neither stored nor rejected. */
  isSkipped = false;
  readonly #filled = new Uint8Array(fieldKeys.length);
  #filledCount = 0;
  readonly #use = new Uint8Array(fieldKeys.length);

  clear(): void {
    for (let i = 0; i < this.#filledCount; i += 1) {
      const index = this.#filled[i]!;
      this.kind[index] = slotKind.absent;
      this.#use[index] = use.none;
    }
    this.#filledCount = 0;
    this.addedBytes = 0;
    this.fault = '';
    this.isSkipped = false;
    this.labels.clear();
  }

  /** Clears the slots and releases the bytes of the event. */
  release(): void {
    this.clear();
    this.labels.release();
    this.given = noText;
  }

  set(index: number, kind: number, start: number, end: number): void {
    if (this.#use[index] === use.none) {
      this.#use[index] = use.filled;
      this.#filled[this.#filledCount++] = index;
    }
    this.kind[index] = kind;
    this.start[index] = start;
    this.end[index] = end;
  }

  giveMessage(text: Buffer): void {
    this.set(field.message, slotKind.given, 0, 0);
    this.given = text;
    this.addedBytes += text.length;
  }

  /** Marks a slot that fills a column. @param index or -1 */
  markUsed(index: number): void {
    if (index >= 0) this.#use[index] = use.column;
  }

  /** Calls `keep` for each slot that has a value and fills no column. */
  eachUnused(keep: (index: number) => void): void {
    for (let i = 0; i < this.#filledCount; i += 1) {
      const index = this.#filled[i]!;
      if (this.#use[index] === use.filled && this.kind[index] !== slotKind.absent) keep(index);
    }
  }

  isAbsent(index: number): boolean {
    return this.kind[index] === slotKind.absent;
  }

  isString(index: number): boolean {
    const kind = this.kind[index];
    return (
      kind === slotKind.plainString ||
      kind === slotKind.escapedString ||
      kind === slotKind.brokenString ||
      kind === slotKind.given
    );
  }
}
