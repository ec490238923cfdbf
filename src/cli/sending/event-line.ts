/**
 * One line of text to one event of the JSON receiver (docs/senders/json-logs.md). Pure. What a
 * sender wrote is passed on as it stands; what it lacks is put to its end.
 */
import { isExportedLog, toEvent } from './exported-log.ts';

export const lineFormats = ['auto', 'lines', 'ndjson'] as const;
/** `auto`: a line that is a JSON object is an event, any other a message. */
export type LineFormat = (typeof lineFormats)[number];

/** What an event gets that has none of its own. */
export interface EventDefaults {
  readonly severity: string | undefined;
  readonly serviceName: string | undefined;
  readonly serviceNamespace: string | undefined;
  readonly host: string | undefined;
  readonly labels: ReadonlyMap<string, string>;
}

export type LineReading =
  | { readonly kind: 'event'; readonly json: string; readonly isTimed: boolean }
  | { readonly kind: 'fault'; readonly reason: string };

type JsonObject = Readonly<Record<string, unknown>>;

const strings = ['message', 'severity', 'service_name', 'service_namespace', 'host'] as const;
const times = ['timestamp', 'time', 'ts', '@timestamp'] as const;
/** Keys that mean something at the top of an event, so that no label can stand there. */
const fieldNames: ReadonlySet<string> = new Set([
  ...strings,
  ...times,
  'msg',
  'event',
  'level',
  'service',
  'hostname',
  'labels',
  'trace_id',
  'span_id',
]);

/** Labels with these names can only be written by the sender itself. */
export function isFieldName(name: string): boolean {
  return fieldNames.has(name);
}

/** @returns the reader of lines; it gives undefined for a blank one, which is no event. */
export function createLineReader(
  format: LineFormat,
  defaults: EventDefaults,
): (text: string) => LineReading | undefined {
  const filled = fillingOf({}, defaults);
  const messageEnd = filled === '' ? '}' : `,${filled}}`;
  const toMessage = (text: string): LineReading => ({
    kind: 'event',
    json: `{"message":${JSON.stringify(text)}${messageEnd}`,
    isTimed: false,
  });

  return (line) => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    const trimmed = text.trim();
    if (trimmed === '') return undefined;
    if (format === 'lines') return toMessage(text);
    const object = trimmed.startsWith('{') ? parseObject(trimmed) : undefined;
    if (object !== undefined) return readObject(object, trimmed, defaults);
    return format === 'auto' ? toMessage(text) : { kind: 'fault', reason: 'not a JSON object' };
  };
}

/** @param text the JSON of `object`, whose numbers may be more exact than ours. */
export function readObject(object: JsonObject, text: string, defaults: EventDefaults): LineReading {
  if (isExportedLog(object)) {
    const event = toEvent(object);
    return readObject(event, JSON.stringify(event), defaults);
  }
  const reason = faultOf(object);
  if (reason !== undefined) return { kind: 'fault', reason };
  const filling = fillingOf(object, defaults);
  return {
    kind: 'event',
    // The last of repeated keys counts, so this also stands in for a null further up.
    json: filling === '' ? text : `${text.slice(0, -1)},${filling}}`,
    isTimed: times.some((name) => isPresent(object, name)),
  };
}

/** The service says the same, but only where another event of the request can be taken. */
function faultOf(event: JsonObject): string | undefined {
  for (const name of strings) {
    if (isPresent(event, name) && !isString(event, name)) return `${name} is not a string`;
  }
  const labels = isPresent(event, 'labels') ? event['labels'] : {};
  if (typeof labels !== 'object' || Array.isArray(labels)) return 'labels is not an object';
  const hasMessage = ['message', 'msg', 'event'].some((name) => isString(event, name));
  return hasMessage ? undefined : 'message is missing';
}

/** @returns the members that the event lacks, as JSON without braces. */
function fillingOf(event: JsonObject, defaults: EventDefaults): string {
  const hasSeverity =
    isPresent(event, 'severity') || isString(event, 'level') || typeof event['level'] === 'number';
  const hasService = isPresent(event, 'service_name') || isString(event, 'service');
  const hasHost = isPresent(event, 'host') || isString(event, 'hostname');
  const members: [string, unknown][] = [
    ...member('severity', hasSeverity ? undefined : defaults.severity),
    ...member('service_name', hasService ? undefined : defaults.serviceName),
    ...member(
      'service_namespace',
      isPresent(event, 'service_namespace') ? undefined : defaults.serviceNamespace,
    ),
    ...member('host', hasHost ? undefined : defaults.host),
    ...labelMembers(event, defaults.labels),
  ];
  return members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join();
}

/** Any key that is no field is a label, so the sender's own object of labels stays as it is. */
function labelMembers(event: JsonObject, labels: ReadonlyMap<string, string>): [string, string][] {
  const own = isPresent(event, 'labels') ? (event['labels'] as JsonObject) : {};
  return [...labels].filter(([name]) => !isPresent(event, name) && !isPresent(own, name));
}

function member(name: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[name, value]];
}

function parseObject(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

/** null is absent, and so is what every object inherits. */
function isPresent(event: JsonObject, name: string): boolean {
  return Object.hasOwn(event, name) && event[name] !== null;
}

function isString(event: JsonObject, name: string): boolean {
  return Object.hasOwn(event, name) && typeof event[name] === 'string';
}
