/**
 * Parses a request of the ClickHouse HTTP interface (https://clickhouse.com/docs/interfaces/http):
 * the query, its parameters as bytes, its settings, and the form of the response.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { EngineException } from './exceptions.ts';
import { isPoolName, type PoolName } from './settings.ts';

export interface EngineRequest {
  /** The `query` field of the URL; undefined when the body holds the query. */
  readonly sql: string | undefined;
  readonly queryId: string | undefined;
  /** Undefined = chosen by the kind of statement. */
  readonly pool: PoolName | undefined;
  /** The quota key of ClickHouse; empty = none. */
  readonly account: string;
  readonly database: string;
  readonly defaultFormat: string;
  /** By name, `param_` included, in ClickHouse's escaped text format. */
  readonly parameters: ReadonlyMap<string, Uint8Array>;
  readonly settings: ReadonlyMap<string, string>;
  /** Respond only when the query has ended, so that a failure cannot truncate the response. */
  readonly waitsForEnd: boolean;
}

/** Fields that are not settings of the query. */
const protocolNames = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'wait_end_of_query',
  'enable_http_compression',
  'buffer_size',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'role',
  'user',
  'password',
  'quota_key',
  'stacktrace',
  'compress',
  'decompress',
  'client_protocol_version',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'cancel_http_readonly_queries_on_client_close',
]);

/**
 * @param fields of the URL and of a multipart body
 * @throws EngineException 62 for an invalid name of a setting, 48 for an unknown pool
 */
export function toEngineRequest(
  fields: ReadonlyMap<string, Uint8Array>,
  headers: IncomingHttpHeaders,
): EngineRequest {
  const text = (name: string) => textOf(fields.get(name));
  const parameters = new Map<string, Uint8Array>();
  const settings = new Map<string, string>();
  for (const [name, value] of fields) {
    if (name.startsWith('param_')) parameters.set(settingName(name), value);
    else if (!protocolNames.has(name)) settings.set(settingName(name), textOf(value) ?? '');
  }
  return {
    sql: text('query') || undefined,
    queryId: text('query_id') || undefined,
    pool: poolOf(headers['x-weir-pool']),
    account: textOf(headers['x-clickhouse-quota']) ?? text('quota_key') ?? '',
    database: text('database') || 'default',
    defaultFormat:
      textOf(headers['x-clickhouse-format']) ?? text('default_format') ?? 'TabSeparated',
    parameters,
    settings,
    waitsForEnd: text('wait_end_of_query') === '1',
  };
}

/** Decodes `a=b&c=d` to bytes: values need not be UTF-8. */
export function parseQueryString(queryString: string): Map<string, Uint8Array> {
  const fields = new Map<string, Uint8Array>();
  for (const pair of queryString.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    const value = equals < 0 ? '' : pair.slice(equals + 1);
    fields.set(Buffer.from(percentDecode(name)).toString(), percentDecode(value));
  }
  return fields;
}

/**
 * The parts of a `multipart/form-data` body by name; the form in which `@clickhouse/client` sends
 * long parameters.
 * @throws EngineException 62
 */
export function parseMultipart(body: Buffer, contentType: string): Map<string, Uint8Array> {
  const boundary = /boundary="?([\w-]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) throw badMultipart('no boundary');
  // In Latin-1 every byte is one character.
  const parts = `\r\n${body.toString('latin1')}`.split(new RegExp(`\r\n--${boundary}(?=--|\r\n)`));
  const fields = new Map<string, Uint8Array>();
  for (const part of parts.slice(1, -1)) {
    const headEnd = part.indexOf('\r\n\r\n');
    const name = /name="([^"]*)"/.exec(part.slice(0, Math.max(headEnd, 0)))?.[1];
    if (name === undefined) throw badMultipart('a part has no name');
    fields.set(name, Buffer.from(part.slice(headEnd + 4), 'latin1'));
  }
  return fields;
}

function percentDecode(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    const hex = byte === 0x25 ? text.slice(at + 1, at + 3) : '';
    if (/^[0-9A-Fa-f]{2}$/.test(hex)) {
      bytes[length++] = Number.parseInt(hex, 16);
      at += 2;
    } else bytes[length++] = byte === 0x2b ? 0x20 : byte;
  }
  return bytes.subarray(0, length);
}

function poolOf(header: string | string[] | undefined): PoolName | undefined {
  const name = textOf(header);
  if (name === undefined || isPoolName(name)) return name;
  const known = 'insert, read, housekeeping or control';
  throw new EngineException(48, `cannot use pool ${name}: ${known}`);
}

function settingName(name: string): string {
  if (!/^[A-Za-z_]\w{0,127}$/.test(name)) {
    throw new EngineException(62, `cannot read ${JSON.stringify(name.slice(0, 80))} as a setting`);
  }
  return name;
}

function textOf(value: Uint8Array | string | string[] | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  return Array.isArray(value) ? value[0] : Buffer.from(value).toString();
}

function badMultipart(why: string): EngineException {
  return new EngineException(62, `cannot read the multipart body: ${why}`);
}
