/** Fields of a message that is JSON or logfmt. */
import { readLogfmt } from '../codec/logfmt.ts';

/** Names in loggers' output of fields with a column. */
const aliases: Readonly<Record<string, string>> = {
  msg: 'message',
  level: 'severity',
  service: 'service_name',
  'service.name': 'service_name',
  'service.namespace': 'service_namespace',
  hostname: 'host',
  traceId: 'trace_id',
  spanId: 'span_id',
  'trace.id': 'trace_id',
  'span.id': 'span_id',
};

/** @returns undefined if the text has another format */
export function parseFields(
  text: string,
  format: 'json' | 'logfmt',
  maxFields: number,
): Iterable<readonly [name: string, value: string]> | undefined {
  return format === 'json' ? parseObject(text) : readLogfmt(text, maxFields);
}

export function toFieldName(name: string): string {
  return Object.hasOwn(aliases, name) ? aliases[name]! : name;
}

function parseObject(text: string): (readonly [string, string])[] | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Another format is data, not a fault.
    return undefined;
  }
  return Object.entries(parsed as object)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}
