/**
 * Validates an event and writes it as a `logs/1` row. Canonical keys take precedence over the
 * fields of loggers. Keys without a column become labels.
 */
import { EpochReader, type EventTime, parseEpoch } from '../../codec/event-time.ts';
import { parseTimeText } from '../../codec/event-time-text.ts';
import { unescape } from '../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../codec/key-table.ts';
import type { RowWriter } from '../../codec/row-writer.ts';
import {
  severityNumbers,
  toSeverityNumber,
  toSeverityWord,
  toSyslogWord,
} from '../../model/severity.ts';
import {
  chooseHost,
  chooseMessage,
  chooseNamespace,
  chooseService,
  chooseSeverity,
  chooseSpanId,
  chooseTraceId,
  timeFields,
} from './choose-fields.ts';
import { type EventSlots, field, fieldKeys, slotKind } from './event-fields.ts';
import { maxLabels, valueKind } from './label-set.ts';

const mustBeStrings = [
  field.message,
  field.severity,
  field.serviceName,
  field.serviceNamespace,
  field.host,
] as const;

const fieldKeyBytes = fieldKeys.map((key) => Buffer.from(key));
const newline = 0x0a;
const backslash = 0x5c;
const letterN = 0x6e;
const severityWords = [...severityNumbers.keys()];
const severityTable = createKeyTable(severityWords);
/** Longer numbers and texts are not parsed as a time. */
const maxTimeLength = 64;
/** Upper bound of a row beyond the bytes of its event. */
const rowOverheadBytes = 256;

/** @returns the reason to reject the event, or '' */
export function findFault(slots: EventSlots): string {
  if (slots.fault !== '') return slots.fault;
  // What may be stored as a whole is never rejected for a field.
  if (!slots.isAbsent(field.whole)) {
    return slots.labels.overflowed ? `more than ${maxLabels} labels` : '';
  }
  for (const index of mustBeStrings) {
    if (!slots.isAbsent(index) && !slots.isString(index)) {
      return `${fieldKeys[index]!} is not a string`;
    }
  }
  if (!slots.isAbsent(field.labels)) return 'labels is not an object';
  if (chooseMessage(slots) < 0) return 'message is missing';
  return slots.labels.overflowed ? `more than ${maxLabels} labels` : '';
}

export class EventRowWriter {
  readonly #bytes: Buffer;
  readonly #slots: EventSlots;
  readonly #rows: RowWriter;
  /** Events with a time field of which none is readable. */
  unreadableTimes = 0;
  #time: EventTime | undefined;
  readonly #epochs = new EpochReader();

  constructor(bytes: Buffer, slots: EventSlots, rows: RowWriter) {
    this.#bytes = bytes;
    this.#slots = slots;
    this.#rows = rows;
  }

  /** @param eventBytes length of the event, which bounds its row. The event must be valid. */
  write(eventBytes: number): void {
    const slots = this.#slots;
    const rows = this.#rows;
    const message = chooseMessage(slots);
    const severity = chooseSeverity(slots);
    const service = chooseService(slots);
    const host = chooseHost(slots);
    const time = this.#chooseTime();
    const namespace = chooseNamespace(slots);
    const traceId = chooseTraceId(slots, this.#bytes);
    const spanId = chooseSpanId(slots, this.#bytes);
    slots.markUsed(message);
    slots.markUsed(severity);
    slots.markUsed(service);
    slots.markUsed(namespace);
    slots.markUsed(host);
    slots.markUsed(time);
    slots.markUsed(traceId);
    slots.markUsed(spanId);
    slots.markUsed(field.whole);
    slots.eachUnused(this.#keepAsLabel);
    // The whole event may be the message besides its labels, of which some also fill columns.
    rows.reserve(4 * eventBytes + slots.addedBytes + rowOverheadBytes);
    rows.time(this.#time);
    rows.time(undefined);
    this.#writeSeverity(severity, eventBytes, message === field.shortMessage);
    this.#writeString(service);
    this.#writeString(namespace);
    this.#writeString(host);
    if (message === field.log) this.#dropLineBreak(message);
    this.#writeString(message);
    this.#writeHexId(traceId);
    this.#writeHexId(spanId);
    rows.byte(0);
    for (const label of slots.labels.kubernetes) this.#writeLabelValue(label);
    this.#writeLabels();
    // Resource attributes, their schema, scope name, version and schema, scope attributes, event
    // name.
    for (let i = 0; i < 7; i += 1) rows.byte(0);
  }

  /** Sets `#time`. Aliases are not tried if `timestamp` is present but unreadable. */
  #chooseTime(): number {
    this.#time = undefined;
    let isPresent = false;
    for (const index of timeFields) {
      if (this.#slots.isAbsent(index)) continue;
      isPresent = true;
      this.#time = this.#readTime(index);
      if (this.#time !== undefined) return index;
      if (index === field.timestamp) break;
    }
    if (isPresent) this.unreadableTimes += 1;
    return -1;
  }

  #readTime(index: number): EventTime | undefined {
    const start = this.#slots.start[index]!;
    const end = this.#slots.end[index]!;
    if (end - start > maxTimeLength) return undefined;
    const kind = this.#slots.kind[index];
    if (index === field.epochSecond) return this.#readInstant(start, end);
    if (kind === slotKind.number) return this.#epochs.read(this.#bytes, start, end);
    if (kind === slotKind.plainString) return parseTimeText(this.#bytes, start, end);
    if (kind !== slotKind.escapedString) return undefined;
    const text = Buffer.allocUnsafe(end - start);
    return parseTimeText(text, 0, unescape(this.#bytes, start, end, text));
  }

  /** Seconds of Log4j2's `instant`, and the nanoseconds beside them. */
  #readInstant(start: number, end: number): EventTime | undefined {
    const { start: starts, end: ends } = this.#slots;
    const index = field.nanoOfSecond;
    const seconds = this.#bytes.toString('latin1', start, end);
    if (this.#slots.kind[index] !== slotKind.number) return parseEpoch(seconds);
    const nanos = this.#bytes.toString('latin1', starts[index], ends[index]);
    this.#slots.markUsed(index);
    return parseEpoch(`${seconds}.${nanos.padStart(9, '0')}`);
  }

  readonly #keepAsLabel = (index: number): void => {
    const slots = this.#slots;
    const label = slots.labels.keep(fieldKeyBytes[index]!);
    if (label < 0) return;
    const { kind, start, end } = slots;
    if (kind[index] === slotKind.brokenString) {
      slots.labels.give(label, this.#repair(start[index]!, end[index]!));
      return;
    }
    const escaped = kind[index] === slotKind.escapedString;
    slots.labels.set(
      label,
      escaped ? valueKind.escaped : valueKind.verbatim,
      start[index]!,
      end[index]!,
    );
  };

  /** Docker's lines end with a line break, in JSON with its escape. */
  #dropLineBreak(index: number): void {
    const { kind, start, end } = this.#slots;
    const isRaw = kind[index] === slotKind.plainString && end[index]! > start[index]!;
    if (isRaw && this.#bytes[end[index]! - 1] === newline) end[index]! -= 1;
    if (kind[index] !== slotKind.escapedString || end[index]! - start[index]! < 2) return;
    const [before, slash, letter] = this.#bytes.subarray(end[index]! - 3, end[index]);
    if (before !== backslash && slash === backslash && letter === letterN) end[index]! -= 2;
  }

  /** @param isGelf a numeric level is a severity of syslog */
  #writeSeverity(index: number, eventBytes: number, isGelf: boolean): void {
    if (index < 0) {
      this.#rows.byte(0);
      this.#rows.byte(0);
      return;
    }
    const { kind, start, end } = this.#slots;
    const known = findKey(severityTable, this.#bytes, start[index]!, end[index]!);
    if (known >= 0) {
      this.#rows.bytes(this.#bytes, start[index]!, end[index]!);
      this.#rows.byte(severityNumbers.get(severityWords[known]!)!);
      return;
    }
    const sent = this.#bytes.toString('utf8', start[index], end[index]);
    const text =
      kind[index] === slotKind.escapedString ? (JSON.parse(`"${sent}"`) as string) : sent;
    const word = toWord(text, {
      isNumber: kind[index] === slotKind.number,
      isSyslog: index === field.priority || (isGelf && index === field.level),
    });
    // Upper case may be longer than the text as sent.
    this.#rows.reserve(3 * word.length + 2 * eventBytes + rowOverheadBytes);
    this.#rows.text(word);
    this.#rows.byte(toSeverityNumber(word));
  }

  #writeString(index: number): void {
    if (index < 0) {
      this.#rows.byte(0);
      return;
    }
    const { kind, start, end, given } = this.#slots;
    if (kind[index] === slotKind.brokenString || kind[index] === slotKind.given) {
      const isGiven = kind[index] === slotKind.given;
      const text = isGiven ? given : this.#repair(start[index]!, end[index]!);
      this.#rows.bytes(text, 0, text.length);
      return;
    }
    this.#writeRange(kind[index] === slotKind.escapedString, start[index]!, end[index]!);
  }

  /** Each invalid sequence becomes U+FFFD. */
  #repair(start: number, end: number): Buffer {
    return Buffer.from(this.#bytes.toString('utf8', start, end));
  }

  #writeHexId(index: number): void {
    if (index < 0) {
      this.#rows.byte(0);
      return;
    }
    const end = this.#slots.end[index]!;
    const start = this.#slots.start[index]!;
    this.#rows.varint(end - start);
    // Digits have bit 0x20 already, so that only letters change.
    for (let i = start; i < end; i += 1) this.#rows.byte(this.#bytes[i]! | 0x20);
  }

  #writeLabels(): void {
    const labels = this.#slots.labels;
    this.#rows.varint(labels.present());
    for (let label = 0; label < labels.count; label += 1) {
      if (labels.kind[label] === valueKind.absent) continue;
      this.#rows.bytes(labels.keySource[label]!, labels.keyStart[label]!, labels.keyEnd[label]!);
      this.#writeLabelValue(label);
    }
  }

  #writeLabelValue(label: number): void {
    const { kind, valueStart, valueEnd, given } = this.#slots.labels;
    if (label < 0 || kind[label] === valueKind.absent) {
      this.#rows.byte(0);
      return;
    }
    if (kind[label] === valueKind.given) {
      const value = given[label]!;
      this.#rows.bytes(value, 0, value.length);
      return;
    }
    this.#writeRange(kind[label] === valueKind.escaped, valueStart[label]!, valueEnd[label]!);
  }

  #writeRange(escaped: boolean, start: number, end: number): void {
    if (!escaped) {
      this.#rows.bytes(this.#bytes, start, end);
      return;
    }
    const text = Buffer.allocUnsafe(end - start);
    const length = unescape(this.#bytes, start, end, text);
    this.#rows.bytes(text, 0, length);
  }
}

/** @returns the severity in upper case */
function toWord(text: string, sent: { isNumber: boolean; isSyslog: boolean }): string {
  if (sent.isSyslog) return toSyslogWord(text);
  return sent.isNumber ? toSeverityWord(text) : text.toUpperCase();
}
