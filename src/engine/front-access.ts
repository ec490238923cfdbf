/**
 * Authentication at the engine's TCP port: user and password as in the ClickHouse HTTP interface
 * (https://clickhouse.com/docs/interfaces/http). Without a password only loopback is allowed. Pure.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { parseQueryString } from './http-request.ts';

export interface FrontAccess {
  readonly user: string;
  /** Empty = none is required. */
  readonly password: string;
}

export type FrontRequest = Pick<IncomingMessage, 'url' | 'headers'>;

/** @throws Error for an address of the network without a password */
export function assertGuarded(host: string, { password }: FrontAccess): void {
  if (password !== '' || isLoopback(host)) return;
  const where = host === '' ? 'all addresses' : host;
  throw new Error(
    `cannot serve the engine on ${where} without a password: set store.password, ` +
      'or engine.host to 127.0.0.1',
  );
}

/** @returns whether a request may use the engine; compares in constant time */
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

/** A web page opened on this machine could otherwise reach an engine without a password. */
function isFromBrowser({ headers }: FrontRequest): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

/** Undefined for an unknown scheme, or credentials in two places. */
function credentialsOf({ url = '', headers }: FrontRequest): FrontAccess | undefined {
  const fields = parseQueryString(url.split('?', 2)[1] ?? '');
  const given = [
    toAccess(headers['x-clickhouse-user'], headers['x-clickhouse-key']),
    toAccess(textOf(fields.get('user')), textOf(fields.get('password'))),
    headers.authorization === undefined ? undefined : toBasic(headers.authorization),
  ].filter((credentials) => credentials !== undefined);
  if (given.length > 1) return undefined;
  const [credentials = { user: 'default', password: '' }] = given;
  return credentials === 'unknown' ? undefined : credentials;
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

/** Hashes the user first, so that no other split of user and password has the same digest. */
function digest({ user, password }: FrontAccess): Buffer {
  const userDigest = createHash('sha256').update(user).digest();
  return createHash('sha256').update(userDigest).update(password).digest();
}
