/** Generates valid log requests of every kind. */
import type { Random } from '../harness/random.ts';
import type {
  AnyValue,
  KeyValue,
  LogRecord,
  LogsRequest,
  ResourceLogs,
} from '../protocols/otlp-proto.ts';

const words = [
  '',
  'a',
  'order 17 accepted',
  'é',
  'naïve \u{1f600} text',
  '\u0000',
  'tab\tline\nquote"back\\slash',
  '\ufeff',
  'x'.repeat(200),
  '{"json":1}',
  'true',
  '17',
] as const;

const keys = [
  'a',
  'b',
  'service.name',
  'service.namespace',
  'host.name',
  'k8s.pod.name',
  'k8s.namespace.name',
  '__proto__',
  'constructor',
  'otel.time_unix_nano',
  'otel.dropped_attributes_count',
  '0',
  '',
  'ключ',
] as const;

const eventKeys = [
  'severity',
  'level',
  'service_name',
  'service',
  'service_namespace',
  'host',
  'hostname',
  'timestamp',
  'time',
  'ts',
  '@timestamp',
  'trace_id',
  'span_id',
  'msg',
  'labels',
  'k8s.pod.name',
  ...keys,
] as const;

const times = [
  '"2026-11-20T18:20:00.123456789Z"',
  '"2026-11-20T18:20:00+05:30"',
  '"yesterday"',
  '1700000000',
  '1700000000.123',
  '1700000000123',
  '1700000000123456789',
  '-1',
  '9e99',
  'null',
] as const;

/** Distribution of counts; small ones more often. */
export function listOf<T>(random: Random, most: number, make: (index: number) => T): T[] {
  return Array.from({ length: random.integer(0, random.integer(0, most)) }, (_, i) => make(i));
}

export function oneIn(random: Random, count: number): boolean {
  return random.integer(1, count) === 1;
}

/** A body of plain JSON. @param records approximate number of events */
export function jsonLogs(random: Random, records: number): Buffer {
  const events = Array.from({ length: random.integer(1, records) }, () => jsonEvent(random));
  const text = oneIn(random, 4) ? events[0]! : `[${events.join(random.pick([',', ' ,\r\n\t']))}]`;
  return Buffer.from(text);
}

function jsonEvent(random: Random): string {
  const members = listOf(random, 8, () => {
    const key = random.pick(eventKeys);
    return `${JSON.stringify(key)}:${jsonMember(random, key)}`;
  });
  members.splice(
    random.integer(0, members.length),
    0,
    `"message":${JSON.stringify(random.pick(words))}`,
  );
  return `{${members.join(',')}}`;
}

/** A valid value for the key. */
function jsonMember(random: Random, key: string): string {
  if (/time|^ts$/.test(key)) return random.pick(times);
  if (key === 'labels') return jsonObject(random, 2);
  if (/^(severity|service|host|service_n.*)$/.test(key)) return textOrNull(random);
  if (key === 'level') return random.pick(['30', '"warn"', '"ERROR"', 'null']);
  return jsonValue(random, 3);
}

function textOrNull(random: Random): string {
  return oneIn(random, 5) ? 'null' : JSON.stringify(random.pick(words));
}

function jsonObject(random: Random, depth: number): string {
  const members = listOf(random, 5, () => {
    return `${JSON.stringify(random.pick(keys))} :${jsonValue(random, depth)}`;
  });
  return `{${members.join(', ')}}`;
}

function jsonValue(random: Random, depth: number): string {
  switch (random.integer(0, depth > 0 ? 5 : 3)) {
    case 0:
      return JSON.stringify(random.pick(words));
    case 1:
      return random.pick(['0', '-0', '1.5e300', '-12', '9007199254740993', '1e999']);
    case 2:
      return random.pick(['true', 'false', 'null']);
    case 3:
      return '"\\u00e9\\ud83d\\ude00\\/\\b"';
    case 4:
      return jsonObject(random, depth - 1);
    default:
      return `[${listOf(random, 4, () => jsonValue(random, depth - 1)).join()}]`;
  }
}

/**
 * `ExportLogsServiceRequest`, for any encoding. @param records approximate number of log records
 */
export function otlpLogs(random: Random, records: number): LogsRequest {
  const perScope = Math.ceil(records / 2);
  const resourceLogs = Array.from(
    { length: random.integer(1, 3) },
    (): ResourceLogs => ({
      ...(oneIn(random, 4) ? {} : { resource: { attributes: attributes(random, 4) } }),
      schemaUrl: random.pick(words),
      scopeLogs: Array.from({ length: random.integer(0, 2) }, () => ({
        ...(oneIn(random, 3)
          ? {}
          : {
              scope: {
                name: random.pick(words),
                version: '1.2.3',
                attributes: attributes(random, 2),
                droppedAttributesCount: random.integer(0, 2),
              },
            }),
        schemaUrl: random.pick(words),
        logRecords: listOf(random, perScope, () => logRecord(random)),
      })),
    }),
  );
  return { resourceLogs };
}

function logRecord(random: Random): LogRecord {
  return {
    ...(oneIn(random, 5) ? {} : { timeUnixNano: nanos(random) }),
    ...(oneIn(random, 5) ? {} : { observedTimeUnixNano: nanos(random) }),
    ...(oneIn(random, 3) ? {} : { severityNumber: random.integer(0, 24) }),
    ...(oneIn(random, 3) ? {} : { severityText: random.pick(['INFO', 'warn', '', 'Lärm']) }),
    ...(oneIn(random, 8) ? {} : { body: anyValue(random, 3) }),
    attributes: attributes(random, 5),
    flags: random.pick([0, 1, 0xffff_ffff]),
    ...(oneIn(random, 2) ? {} : { traceId: bytes(random, 16), spanId: bytes(random, 8) }),
    ...(oneIn(random, 4) ? { eventName: random.pick(words) } : {}),
  };
}

/** In ns, and in units that senders mistake for ns. */
function nanos(random: Random): string {
  return random.pick([
    '1700000000123456789',
    '1700000000123456',
    '1700000000123',
    '1700000000',
    '0',
    '1',
    '5648745600000000000',
    '9223372036854775808',
    '18446744073709551615',
  ]);
}

function attributes(random: Random, most: number): KeyValue[] {
  return listOf(random, most, (index) => ({
    // Unique, except keys that become columns.
    key: oneIn(random, 3) ? random.pick(keys) : `key${index}`,
    value: anyValue(random, 2),
  }));
}

function anyValue(random: Random, depth: number): AnyValue {
  switch (random.integer(0, depth > 0 ? 7 : 5)) {
    case 0:
    case 1:
      return { stringValue: random.pick(words) };
    case 2:
      return { intValue: random.pick(['0', '-1', '9223372036854775807', '-9223372036854775808']) };
    case 3:
      return { doubleValue: random.pick([0, -0, 1.5, 5e-324, NaN, Infinity, 1e300]) };
    case 4:
      return { boolValue: oneIn(random, 2) };
    case 5:
      return { bytesValue: bytes(random, random.integer(0, 20)) };
    case 6:
      return { arrayValue: { values: listOf(random, 4, () => anyValue(random, depth - 1)) } };
    default:
      return {
        kvlistValue: {
          values: listOf(random, 4, () => ({
            key: random.pick(keys),
            value: anyValue(random, depth - 1),
          })),
        },
      };
  }
}

function bytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.integer(1, 255));
}

/** The events of an array in lines. */
export function ndjsonOf(logs: Buffer): Buffer {
  const events = JSON.parse(logs.toString()) as unknown;
  const list: unknown[] = Array.isArray(events) ? events : [events];
  return Buffer.from(list.map((event) => JSON.stringify(event)).join('\n'));
}

export function hecOf(lines: Buffer): Buffer {
  const events = lines.toString().split('\n');
  return Buffer.from(
    events.map((event, n) => `{"time":${n}.5,"host":"a","event":${event || 'null'}}`).join(''),
  );
}

export function bulkOf(lines: Buffer): Buffer {
  const action = '{"create":{"_index":"a"}}\n';
  return Buffer.from(lines.toString().replaceAll(/^/gm, action));
}
