/**
 * Chooses the field of an event that fills a column: the field of Weir, else the first field of a
 * logger that fits. Each function returns a slot, or -1.
 */
import { eventNames } from '../../model/event-names.ts';
import { type EventSlots, field, slotKind, slotOf } from './event-fields.ts';

const messageFields = eventNames.message.map(slotOf);
const severityFields = eventNames.severity.map(slotOf).filter((index) => index !== field.priority);
const serviceFields = eventNames.service.map(slotOf);
const hostFields = eventNames.host.map(slotOf);
const traceIds = { fields: eventNames.trace.map(slotOf), digits: 32 };
const spanIds = { fields: eventNames.span.map(slotOf), digits: 16 };
/** In order of precedence. */
export const timeFields = [field.givenTime, ...eventNames.time.map(slotOf)];

export function chooseMessage(slots: EventSlots): number {
  if (!slots.isAbsent(field.message)) return field.message;
  const index = firstString(slots, messageFields);
  return index >= 0 || slots.isAbsent(field.whole) ? index : field.whole;
}

export function chooseSeverity(slots: EventSlots): number {
  if (isScalar(slots, field.severity)) return field.severity;
  // Monolog has the word beside its own numbers. Senders of GELF have it beside those of syslog.
  const isNamed = slots.isString(field.levelName) && slots.isAbsent(field.shortMessage);
  if (isNumber(slots, field.level)) return isNamed ? field.levelName : field.level;
  const word = severityFields.find((index) => slots.isString(index));
  if (word !== undefined) return word;
  const hasPriority = slots.isString(field.priority) || isNumber(slots, field.priority);
  return hasPriority ? field.priority : -1;
}

/** The `name` of pino and Bunyan is a service; elsewhere it may name anything. */
export function chooseService(slots: EventSlots): number {
  if (isScalar(slots, field.serviceName)) return field.serviceName;
  const index = firstString(slots, serviceFields);
  if (index >= 0 || !isNumber(slots, field.level)) return index;
  return slots.isString(field.name) ? field.name : -1;
}

export function chooseHost(slots: EventSlots): number {
  if (slots.isString(field.givenHost)) return field.givenHost;
  return isScalar(slots, field.host) ? field.host : firstString(slots, hostFields);
}

export function chooseNamespace(slots: EventSlots): number {
  return isScalar(slots, field.serviceNamespace) ? field.serviceNamespace : -1;
}

/** @param bytes of which slots are ranges */
export function chooseTraceId(slots: EventSlots, bytes: Buffer): number {
  return firstHexId(slots, bytes, traceIds);
}

/** @param bytes of which slots are ranges */
export function chooseSpanId(slots: EventSlots, bytes: Buffer): number {
  return firstHexId(slots, bytes, spanIds);
}

function firstHexId(slots: EventSlots, bytes: Buffer, { fields, digits }: typeof traceIds): number {
  for (const index of fields) {
    const start = slots.start[index]!;
    const isWhole =
      slots.kind[index] === slotKind.plainString && slots.end[index]! - start === digits;
    if (isWhole && isHexId(bytes, start, digits)) return index;
  }
  return -1;
}

/** Whether it is a W3C trace context id: hex digits, not all zero. */
function isHexId(bytes: Buffer, from: number, digits: number): boolean {
  let anyBit = 0;
  for (let i = from; i < from + digits; i += 1) {
    const digit = bytes[i]!;
    const lower = digit | 0x20;
    if (!((digit >= 0x30 && digit <= 0x39) || (lower >= 0x61 && lower <= 0x66))) return false;
    anyBit |= digit ^ 0x30;
  }
  return anyBit !== 0;
}

/** Text, or a number of an event that is never rejected for a field. */
function isScalar(slots: EventSlots, index: number): boolean {
  return slots.isString(index) || isNumber(slots, index);
}

function isNumber(slots: EventSlots, index: number): boolean {
  return slots.kind[index] === slotKind.number;
}

function firstString(slots: EventSlots, indexes: readonly number[]): number {
  for (const index of indexes) if (slots.isString(index)) return index;
  return -1;
}
