/**
 * Who may use the engine over TCP: user and password in any of the three ways of the ClickHouse
 * HTTP interface (https://clickhouse.com/docs/interfaces/http), and without a password this
 * machine alone. Pure.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { parseQueryString } from './http-request.ts';

export interface FrontAccess {
  readonly user: string;
  /** Empty = none is needed, which only this machine may make use of. */
  readonly password: string;
}

/** What is looked at of a request. */
export type FrontRequest = Pick<IncomingMessage, 'url' | 'headers'>;

/** @throws Error where anybody on the network could use the engine. */
export function assertGuarded(host: string, { password }: FrontAccess): void {
  if (password !== '' || isLoopback(host)) return;
  const where = host === '' ? 'all addresses' : host;
  throw new Error(
    `cannot serve the engine on ${where} without a password: set store.password, ` +
      'or engine.host to 127.0.0.1',
  );
}

/** @returns whether a request may use the engine; takes as long for every wrong secret. */
export function createAccessCheck(access: FrontAccess): (request: FrontRequest) => boolean {
  const wanted = digest(access);
  return (request) => {
    if (isFromBrowser(request)) return false;
    const given = credentialsOf(request);
    return given !== undefined && timingSafeEqual(digest(given), wanted);
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** A page that somebody reads on this machine could use an engine without a password as well. */
function isFromBrowser({ headers }: FrontRequest): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

/** Undefined for two ways at once, or one that is not known. */
function credentialsOf({ url = '', headers }: FrontRequest): FrontAccess | undefined {
  const fields = parseQueryString(url.split('?', 2)[1] ?? '');
  const ways = [
    toAccess(headers['x-clickhouse-user'], headers['x-clickhouse-key']),
    toAccess(textOf(fields.get('user')), textOf(fields.get('password'))),
    headers.authorization === undefined ? undefined : toBasic(headers.authorization),
  ].filter((way) => way !== undefined);
  if (ways.length > 1) return undefined;
  const [way = { user: 'default', password: '' }] = ways;
  return way === 'unknown' ? undefined : way;
}

function toAccess(
  user: string | string[] | undefined,
  password: string | string[] | undefined,
): FrontAccess | undefined {
  if (user === undefined && password === undefined) return undefined;
  return { user: String(user ?? 'default'), password: String(password ?? '') };
}

function toBasic(header: string): FrontAccess | 'unknown' {
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(header)?.[1];
  if (encoded === undefined) return 'unknown';
  const [, user, password] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return user === undefined || password === undefined ? 'unknown' : { user, password };
}

function textOf(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString();
}

/** Of one length for all, and with a mark between that neither part can move. */
function digest({ user, password }: FrontAccess): Buffer {
  const userDigest = createHash('sha256').update(user).digest();
  return createHash('sha256').update(userDigest).update(password).digest();
}
