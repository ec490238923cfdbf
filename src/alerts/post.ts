/**
 * Posts to URLs that people of an account chose. Connects only to addresses that were checked after
 * the resolution of their name, and follows no redirects.
 */
import { lookup, type LookupAddress } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

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
    // RFC 6761: every name below it is one of this machine, by either address.
    const addresses = /(?:^|\.)localhost\.?$/.test(host) ? ['127.0.0.1', '::1'] : [host];
    const isReached = addresses.some((one) => isIP(one) === 0 || isAllowed(one, networks));
    if (!isReached) throw refusalOf(addresses[0]!);
  };
}

/** All addresses of a name. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

export function createPost({ allowedNetworks }: PostOptions, resolve: Resolve = lookup): Post {
  const networks = allowedNetworks.map(toNetwork);
  const lookupAllowed: LookupFunction = (hostname, options, callback) =>
    resolve(hostname, { all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      // A name may have further addresses: `localhost` often has ::1 too.
      const allowed = addresses.filter(({ address }) => isAllowed(address, networks));
      const [first] = allowed;
      if (first === undefined) {
        const refusal = refusalOf(addresses.map(({ address }) => address).join(', '));
        return callback(Object.assign(refusal, { code: refusedAddress }), []);
      }
      if (options.all === true) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  return async (url, { body, headers }, signal) => {
    const target = new URL(url);
    const host = hostOf(target);
    // `lookup` is not called for an address.
    if (isIP(host) !== 0 && !isAllowed(host, networks)) throw refusalOf(host);
    const request = target.protocol === 'https:' ? requestHttps : requestHttp;
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
    const { promise, resolve: succeed, reject } = Promise.withResolvers<void>();
    const sent = request(target, {
      method: 'POST',
      lookup: lookupAllowed,
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

/** A range of the settings, or an address. */
function toNetwork(range: string): Network {
  const [address = '', bits = isIP(address) === 4 ? '32' : '128'] = range.split('/');
  return ipaddr.parseCIDR(`${address}/${bits}`);
}

function isAllowed(text: string, networks: readonly Network[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() === 'unicast') return true;
  return networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

function refusalOf(address: string): Error {
  return new Error(
    `cannot notify ${address}: the address is not public; add its range to alerts.allowedNetworks`,
  );
}
