/**
 * Posts to URLs that people of an account chose. Connects only to addresses that were checked after
 * the resolution of their name, and follows no redirects.
 */
import { lookup as resolve } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { messageOf } from '../std/error-text.ts';

export interface PostOptions {
  /** CIDR ranges that are reached although they are not public. */
  readonly allowedNetworks: readonly string[];
}

/**
 * Resolves on a status of 2xx. @throws Error with a reason for people of the account, which tells
 * them nothing about the names of this network; its cause has the details.
 */
export type Post = (
  url: string,
  message: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
) => Promise<void>;

/** @throws Error for a URL with an address, or with `localhost`, that is never posted to */
export type CheckUrl = (url: string) => void;

const timeoutSeconds = 10;

/** Resolves no names: an answer would tell an account about the names of this network. */
export function createUrlCheck({ allowedNetworks }: PostOptions): CheckUrl {
  const networks = allowedNetworks.map(toNetwork);
  return (url) => {
    const host = hostOf(new URL(url));
    if (host === 'localhost') checkAddress('127.0.0.1', networks);
    else if (isIP(host) !== 0) checkAddress(host, networks);
  };
}

/** @throws Error with the invalid range */
export function createPost({ allowedNetworks }: PostOptions): Post {
  const networks = allowedNetworks.map(toNetwork);
  const check = (address: string) => checkAddress(address, networks);
  const lookup: LookupFunction = (hostname, options, callback) =>
    resolve(hostname, { all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      try {
        for (const { address } of addresses) check(address);
      } catch (fault) {
        return callback(Object.assign(fault as Error, { code: refusedAddress }), []);
      }
      if (options.all === true) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? '', first?.family);
    });
  return async (url, { body, headers }, signal) => {
    const target = new URL(url);
    const host = hostOf(target);
    // `lookup` is not called for an address.
    if (isIP(host) !== 0) check(host);
    const request = target.protocol === 'https:' ? requestHttps : requestHttp;
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
    const { promise, resolve: succeed, reject } = Promise.withResolvers<void>();
    const sent = request(target, {
      method: 'POST',
      lookup,
      agent: false,
      signal: AbortSignal.any([signal, timeout]),
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    sent.on('error', (cause: NodeJS.ErrnoException) => {
      const reason = timeout.aborted
        ? `no answer within ${timeoutSeconds} s`
        : (reasons[cause.code ?? ''] ?? cause.code ?? 'the request failed');
      reject(new Error(`cannot notify ${target.origin}: ${reason}`, { cause }));
    });
    sent.on('response', (response) => {
      response.destroy();
      const { statusCode: status = 0 } = response;
      if (status >= 200 && status < 300) succeed();
      else reject(new Error(`cannot notify ${target.origin}: it answered ${status}`));
    });
    sent.end(body);
    return promise;
  };
}

const unresolved = 'its name has no address that is public or in alerts.allowedNetworks';
const refusedAddress = 'ERR_ADDRESS_NOT_ALLOWED';

/** By code. The same for a name that does not exist and one whose address is not allowed. */
const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved,
  EAI_FAIL: unresolved,
  ENODATA: unresolved,
  [refusedAddress]: unresolved,
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it closed the connection',
  EHOSTUNREACH: 'it is unreachable',
  ENETUNREACH: 'it is unreachable',
};

/** An IPv6 address without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

type Network = ReturnType<typeof ipaddr.parseCIDR>;

function toNetwork(range: string): Network {
  try {
    return ipaddr.parseCIDR(range);
  } catch (cause) {
    throw new Error(
      `cannot use alerts.allowedNetworks ${JSON.stringify(range)}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** @throws Error for an address that is neither public nor allowed */
function checkAddress(text: string, networks: readonly Network[]): void {
  const address = ipaddr.process(text);
  if (address.range() === 'unicast') return;
  const isAllowed = networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
  if (isAllowed) return;
  throw new Error(
    `cannot notify ${text}: the address is not public; add its range to alerts.allowedNetworks`,
  );
}
