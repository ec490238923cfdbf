/**
 * Validates an event and writes it as a `logs/1` row. Canonical keys take precedence over the
 * aliases of pino, zerolog and structlog. Keys without a column become labels.
 */
import { type EventTime, parseEpoch } from '../../codec/event-time.ts';
import { parseTimeText } from '../../codec/event-time-text.ts';
import { unescape } from '../../codec/json-scanner.ts';
import { createKeyTable, findKey } from '../../codec/key-table.ts';
import type { RowWriter } from '../../codec/row-writer.ts';
import { severityNumbers, toSeverityNumber, toSeverityWord } from '../../model/severity.ts';
import { type EventSlots, field, fieldKeys, slotKind } from './event-fields.ts';
import { maxLabels, valueKind } from './label-set.ts';

const mustBeStrings = [
  field.message,
  field.severity,
  field.serviceName,
  field.serviceNamespace,
  field.host,
] as const;

/** Bits of the fields that become labels unless they fill their column. */
const optionalFields = [
  field.msg,
  field.event,
  field.level,
  field.service,
  field.hostname,
  field.timestamp,
  field.time,
  field.ts,
  field.atTimestamp,
  field.traceId,
  field.spanId,
].reduce((bits, index) => bits | bit(index), 0);

/** In order of precedence. */
const timeFields = [field.timestamp, field.time, field.ts, field.atTimestamp] as const;

const fieldKeyBytes = fieldKeys.map((key) => Buffer.from(key));
const severityWords = [...severityNumbers.keys()];
const severityTable = createKeyTable(severityWords);
/** Longer numbers and texts are not parsed as a time. */
const maxTimeLength = 64;
/** Upper bound of a row beyond the bytes of its event. */
const rowOverheadBytes = 256;

/** @returns the reason to reject the event, or '' */
export function findFault(slots: EventSlots): string {
  for (const index of mustBeStrings) {
    if (!slots.isAbsent(index) && !slots.isString(index)) {
      return `${fieldKeys[index]} is not a string`;
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
    const service = chooseString(slots, field.serviceName, field.service);
    const host = chooseString(slots, field.host, field.hostname);
    const time = this.#chooseTime();
    const traceId = this.#chooseHexId(field.traceId, 32);
    const spanId = this.#chooseHexId(field.spanId, 16);
    const used = bit(message) | bit(severity) | bit(service) | bit(host) | bit(time);
    this.#keepAsLabels(slots.filled & optionalFields & ~(used | bit(traceId) | bit(spanId)));
    rows.reserve(2 * eventBytes + rowOverheadBytes);
    rows.time(this.#time);
    rows.time(undefined);
    this.#writeSeverity(severity, eventBytes);
    this.#writeString(service);
    this.#writeString(slots.isAbsent(field.serviceNamespace) ? -1 : field.serviceNamespace);
    this.#writeString(host);
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
    if (kind === slotKind.number) return parseEpoch(this.#bytes.toString('latin1', start, end));
    if (kind === slotKind.plainString) return parseTimeText(this.#bytes, start, end);
    if (kind !== slotKind.escapedString) return undefined;
    const text = Buffer.allocUnsafe(end - start);
    return parseTimeText(text, 0, unescape(this.#bytes, start, end, text));
  }

  /** @returns `index` if its slot has a W3C trace context id: hex digits, not all zero; else -1 */
  #chooseHexId(index: number, digits: number): number {
    const start = this.#slots.start[index]!;
    if (this.#slots.kind[index] !== slotKind.plainString) return -1;
    if (this.#slots.end[index]! - start !== digits) return -1;
    let anyBit = 0;
    for (let i = start; i < start + digits; i += 1) {
      const digit = this.#bytes[i]!;
      const lower = digit | 0x20;
      if (!((digit >= 0x30 && digit <= 0x39) || (lower >= 0x61 && lower <= 0x66))) return -1;
      anyBit |= digit ^ 0x30;
    }
    return anyBit === 0 ? -1 : index;
  }

  /** @param fields bits of slots */
  #keepAsLabels(fields: number): void {
    const slots = this.#slots;
    for (let rest = fields; rest !== 0; rest &= rest - 1) {
      const index = 31 - Math.clz32(rest & -rest);
      if (slots.isAbsent(index)) continue;
      const label = slots.labels.keep(fieldKeyBytes[index]!);
      if (label < 0) continue;
      const escaped = slots.kind[index] === slotKind.escapedString;
      const kind = escaped ? valueKind.escaped : valueKind.verbatim;
      slots.labels.set(label, kind, slots.start[index]!, slots.end[index]!);
    }
  }

  #writeSeverity(index: number, eventBytes: number): void {
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
    const word = kind[index] === slotKind.number ? toSeverityWord(text) : text.toUpperCase();
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
    const { kind, start, end } = this.#slots;
    this.#writeRange(kind[index] === slotKind.escapedString, start[index]!, end[index]!);
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
    const { kind, valueStart, valueEnd } = this.#slots.labels;
    if (label < 0 || kind[label] === valueKind.absent) {
      this.#rows.byte(0);
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

/** @returns the slot of the message, or -1 */
function chooseMessage(slots: EventSlots): number {
  const index = chooseString(slots, field.message, field.msg);
  if (index >= 0) return index;
  return slots.isString(field.event) ? field.event : -1;
}

function chooseSeverity(slots: EventSlots): number {
  if (!slots.isAbsent(field.severity)) return field.severity;
  if (slots.kind[field.level] === slotKind.number) return field.level;
  return slots.isString(field.level) ? field.level : -1;
}

/** The canonical field if present, else its alias if that is a string, else -1. */
function chooseString(slots: EventSlots, canonical: number, alias: number): number {
  if (!slots.isAbsent(canonical)) return canonical;
  return slots.isString(alias) ? alias : -1;
}

function bit(index: number): number {
  return index < 0 ? 0 : 1 << index;
}
