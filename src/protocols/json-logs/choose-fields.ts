/**
 * Chooses the field of an event that fills a column: the field of Weir, else the first field of a
 * logger that fits. Each function returns a slot, or -1.
 */
import { type EventSlots, field, slotKind } from './event-fields.ts';

const messageFields = [
  field.msg,
  field.event,
  field.log,
  field.journalMessage,
  field.shortMessage,
  field.body,
  field.errorMessage,
];
const severityFields = [field.level, field.levelName, field.logLevel, field.severityText];
const serviceFields = [field.service, field.dottedService, field.syslogIdentifier];
const hostFields = [field.hostname, field.dottedHost, field.journalHost];
/** In order of precedence. */
export const timeFields = [
  field.givenTime,
  field.timestamp,
  field.time,
  field.ts,
  field.atTimestamp,
  field.asctime,
  field.journalTime,
];

export function chooseMessage(slots: EventSlots): number {
  const index = chooseString(slots, field.message, messageFields);
  return index >= 0 || slots.isAbsent(field.whole) ? index : field.whole;
}

export function chooseSeverity(slots: EventSlots): number {
  if (!slots.isAbsent(field.severity)) return field.severity;
  if (isNumber(slots, field.level)) return field.level;
  const word = severityFields.find((index) => slots.isString(index));
  if (word !== undefined) return word;
  const hasPriority = slots.isString(field.priority) || isNumber(slots, field.priority);
  return hasPriority ? field.priority : -1;
}

/** The `name` of pino and Bunyan is a service; elsewhere it may name anything. */
export function chooseService(slots: EventSlots): number {
  const index = chooseString(slots, field.serviceName, serviceFields);
  if (index >= 0 || !isNumber(slots, field.level)) return index;
  return slots.isString(field.name) ? field.name : -1;
}

export function chooseHost(slots: EventSlots): number {
  if (slots.isString(field.givenHost)) return field.givenHost;
  return chooseString(slots, field.host, hostFields);
}

function isNumber(slots: EventSlots, index: number): boolean {
  return slots.kind[index] === slotKind.number;
}

/** The canonical field if present, else the first alias that is a string, else -1. */
function chooseString(slots: EventSlots, canonical: number, aliases: readonly number[]): number {
  if (!slots.isAbsent(canonical)) return canonical;
  for (const index of aliases) if (slots.isString(index)) return index;
  return -1;
}
