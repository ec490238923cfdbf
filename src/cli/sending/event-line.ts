/**
 * Lines to events of the JSON receiver (docs/senders/json-logs.md). An event is sent as it was
 * written, with defaults appended for missing fields.
 */
import { eventNames } from '../../model/event-names.ts';
import { fieldEntries, fieldValue } from '../../model/log-fields.ts';
import type { LogRecord } from '../../model/plan.ts';

export const lineFormats = ['auto', 'lines', 'ndjson'] as const;
/** `auto`: a JSON object that the receiver accepts is an event, any other line a message. */
export type LineFormat = (typeof lineFormats)[number];

/** Values for events that have none. */
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
/** Keys of an event that cannot be labels. */
const fieldNames: ReadonlySet<string> = new Set([
  ...Object.values(eventNames).flat(),
  'service_namespace',
  'labels',
]);

export function isFieldName(name: string): boolean {
  return fieldNames.has(name);
}

/** The returned reader gives undefined for a blank line. */
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
    const reading: LineReading =
      object === undefined
        ? { kind: 'fault', reason: 'not a JSON object' }
        : readObject(object, trimmed, defaults);
    return format === 'auto' && reading.kind === 'fault' ? toMessage(text) : reading;
  };
}

/** @param text the JSON of `object`, sent as it is because its numbers may exceed a double. */
export function readObject(object: JsonObject, text: string, defaults: EventDefaults): LineReading {
  if (isExportedLog(object)) {
    const event = fromExportedLog(object);
    return readObject(event, JSON.stringify(event), defaults);
  }
  const reason = faultOf(object);
  if (reason !== undefined) return { kind: 'fault', reason };
  const filling = fillingOf(object, defaults);
  return {
    kind: 'event',
    // The last of repeated keys counts, so a default also replaces null.
    json: filling === '' ? text : `${text.slice(0, -1)},${filling}}`,
    isTimed: eventNames.time.some((name) => isPresent(object, name)),
  };
}

/** Checked here, because the service refuses a request in which no event is valid. */
function faultOf(event: JsonObject): string | undefined {
  for (const name of strings) {
    const isNamedHost = name === 'host' && isString(event, 'host.name');
    if (isPresent(event, name) && !isString(event, name) && !isNamedHost) {
      return `${name} is not a string`;
    }
  }
  const labels = isPresent(event, 'labels') ? event['labels'] : {};
  if (typeof labels !== 'object' || Array.isArray(labels)) return 'labels is not an object';
  return hasAny(event, eventNames.message) ? undefined : 'message is missing';
}

/** @returns the defaults that the event lacks, as JSON members without braces. */
function fillingOf(event: JsonObject, defaults: EventDefaults): string {
  const hasNumber = typeof event['level'] === 'number';
  const isNumbered = hasNumber || typeof event['PRIORITY'] === 'number';
  // The name of pino and Bunyan.
  const isNamed = hasNumber && isString(event, 'name');
  const members: [string, string | undefined, boolean][] = [
    ['severity', defaults.severity, isNumbered || hasAny(event, eventNames.severity)],
    ['service_name', defaults.serviceName, isNamed || hasAny(event, eventNames.service)],
    ['service_namespace', defaults.serviceNamespace, isPresent(event, 'service_namespace')],
    ['host', defaults.host, hasAny(event, eventNames.host)],
  ];
  const fields = members.flatMap(([name, value, isFilled]): [string, string][] =>
    value === undefined || isFilled ? [] : [[name, value]],
  );
  return [...fields, ...labelMembers(event, defaults.labels)]
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join();
}

/** Keys that are not fields are labels, so the event's own `labels` stays as it is. */
function labelMembers(event: JsonObject, labels: ReadonlyMap<string, string>): [string, string][] {
  const own = isPresent(event, 'labels') ? (event['labels'] as JsonObject) : {};
  return [...labels].filter(([name]) => !isPresent(event, name) && !isPresent(own, name));
}

function parseObject(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

function hasAny(event: JsonObject, names: readonly string[]): boolean {
  return names.some((name) => isString(event, name));
}

/** null counts as absent. */
function isPresent(event: JsonObject, name: string): boolean {
  return Object.hasOwn(event, name) && event[name] !== null;
}

/** @param name a key, or with a dot the member of an object */
function isString(event: JsonObject, name: string): boolean {
  if (Object.hasOwn(event, name)) return typeof event[name] === 'string';
  const [first = '', ...rest] = name.split('.');
  const object = rest.length > 0 && Object.hasOwn(event, first) ? event[first] : undefined;
  const isObject = typeof object === 'object' && object !== null;
  return isObject && isString(object as JsonObject, rest.join('.'));
}

/** A log of `weir logs --json` or of an export, perhaps of chosen columns. */
function isExportedLog(object: JsonObject): object is JsonObject & Partial<LogRecord> {
  const marks = ['logId', 'timestampNanos', 'streamId', 'message'];
  return marks.every((name) => isString(object, name));
}

/** Drops what the service assigns, and keeps as labels what the JSON receiver has no field for. */
function fromExportedLog(log: Partial<LogRecord>): JsonObject {
  const attributes = fieldEntries.flatMap(([, { attribute, path }]) =>
    attribute === undefined ? [] : [[attribute, fieldValue(log, path)] as const],
  );
  const withVersion = [...attributes, ['otel.scope.version', log.scope?.version] as const];
  return {
    message: log.message,
    ...withoutEmpty([
      ['severity', log.severity],
      ['service_name', log.serviceName],
      ['service_namespace', log.serviceNamespace],
      ['host', log.host],
      ['timestamp', log.timestampNanos && toIsoNanos(log.timestampNanos)],
      ['trace_id', log.traceId],
      ['span_id', log.spanId],
    ]),
    labels: { ...withoutEmpty(withVersion), ...log.labels },
  };
}

/** Fields that a log lacks read back as empty text. */
function withoutEmpty(members: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries(members.filter(([, value]) => (value ?? '') !== ''));
}

/** @param nanos Unix ns in decimal digits. @returns RFC 3339; any other text as it is. */
function toIsoNanos(nanos: string): string {
  if (!/^\d{1,19}$/.test(nanos)) return nanos;
  const seconds = Number(nanos.slice(0, -9) || '0');
  const fraction = nanos.padStart(10, '0').slice(-9);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}
