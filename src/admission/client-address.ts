/**
 * The client address of a request, and address ranges. Only addresses in full notation are
 * accepted: no `127.1`, `0x7f.1`, zones or ports.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AppError } from '../model/errors.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [Address, number];

/** @throws AppError `malformed` with the invalid range */
export function parseRanges(cidrs: readonly string[]): AddressRange[] {
  return cidrs.map((cidr) => {
    const [address = '', bits = isIP(address) === 4 ? '32' : '128'] = cidr.split('/');
    try {
      if (isIP(address) === 0) throw new TypeError('no address in full notation');
      return toUnmapped(...ipaddr.parseCIDR(`${address}/${bits}`));
    } catch (cause) {
      throw new AppError('malformed', `cannot read the address range "${cidr}"`, { cause });
    }
  });
}

/**
 * The peer, or the right-most hop of `X-Forwarded-For` that is not a trusted proxy if the peer is
 * one.
 * @returns undefined if that hop is not an address
 */
export function clientAddress(
  peer: string,
  forwardedFor: readonly string[],
  trustedProxies: readonly AddressRange[],
): Address | undefined {
  let address = parseAddress(peer);
  if (trustedProxies.length === 0 || forwardedFor.length === 0) return address;
  const hops = forwardedFor.join(',').split(',');
  while (address !== undefined && isWithin(address, trustedProxies)) {
    const hop = hops.pop();
    if (hop === undefined) break;
    address = parseAddress(hop.trim());
  }
  return address;
}

export function isWithin(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([network, bits]) => {
    return network.kind() === address.kind() && address.match(network, bits);
  });
}

export function isTrusted(peer: string, trustedProxies: readonly AddressRange[]): boolean {
  if (trustedProxies.length === 0) return false;
  const address = parseAddress(peer);
  return address !== undefined && isWithin(address, trustedProxies);
}

/** Key of per-address limits: the address, for IPv6 its /64, the least that a customer gets. */
export function addressKey(address: Address | string): string {
  const parsed = typeof address === 'string' ? parseAddress(address) : address;
  if (parsed === undefined) return '';
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts.slice(0, 4).join(':');
}

function parseAddress(text: string): Address | undefined {
  if (isIP(text) === 0 || text.includes('%')) return undefined;
  return ipaddr.process(text);
}

/** Converts a range of IPv4-mapped addresses to IPv4, as `parseAddress` does for addresses. */
function toUnmapped(address: Address, bits: number): AddressRange {
  if (address.kind() === 'ipv6' && bits >= 96) {
    const sixth = address as ipaddr.IPv6;
    if (sixth.isIPv4MappedAddress()) return [sixth.toIPv4Address(), bits - 96];
  }
  return [address, bits];
}
