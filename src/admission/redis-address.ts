/** Where a Redis or Valkey listens, out of what an operator wrote. Pure. */
import { unescape } from 'node:querystring';

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly database: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/**
 * `redis[s]://[user[:password]@]host[:port][/database]`
 * (https://www.iana.org/assignments/uri-schemes/prov/redis). @throws Error in words for the
 * operator, without the password.
 */
export function parseRedisUrl(text: string): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const database = /^\/?(\d*)$/.exec(url?.pathname ?? '')?.[1];
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
  if (url === undefined || !isRedis || url.hostname === '' || database === undefined) {
    const shown = text.replace(/^(.*:\/\/)?.*@/s, '$1…@');
    throw new Error(
      `cannot use the address ${JSON.stringify(shown)} of the quota store: ` +
        'give quota.urls as redis://host:6379 or rediss://host:6379',
    );
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    isTls: url.protocol === 'rediss:',
    database: Number(database),
    user: decode(url.username),
    password: decode(url.password),
  };
}

function decode(part: string): string | undefined {
  return part === '' ? undefined : unescape(part);
}
