/** Where a NATS server listens, out of what an operator wrote. Pure. */
import { unescape } from 'node:querystring';

export interface NatsAddress {
  /** As the client wants it: no user, no password. */
  readonly server: string;
  readonly isTls: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/**
 * `nats://[user[:password]@]host[:port]`, or `tls://`. @throws Error in words for the operator,
 * without the password.
 */
export function parseNatsUrl(text: string): NatsAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isKnown = url?.protocol === 'nats:' || url?.protocol === 'tls:';
  const isBare = /^\/?$/.test(url?.pathname ?? '') && url?.search === '' && url.hash === '';
  if (url === undefined || !isKnown || !isBare || url.hostname === '') {
    const shown = text.replace(/^(.*:\/\/)?.*@/s, '$1…@');
    throw new Error(
      `cannot use the address ${JSON.stringify(shown)} of the queue: ` +
        'give queue.urls as nats://host:4222 or tls://host:4222',
    );
  }
  return {
    server: `${url.protocol}//${url.hostname}:${url.port || '4222'}`,
    isTls: url.protocol === 'tls:',
    user: url.username === '' ? undefined : unescape(url.username),
    password: url.password === '' ? undefined : unescape(url.password),
  };
}
