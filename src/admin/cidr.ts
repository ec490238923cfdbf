/** Address ranges that may send to a receiver: validation and canonical form. */
import ipaddr from 'ipaddr.js';

/** Accepts a range (`10.0.0.0/8`) or an address, IPv4 in four decimal parts or IPv6. */
export function isCidr(text: string): boolean {
  return parse(text) !== undefined;
}

/** The range with the bits below its prefix cleared; a single address gets the longest prefix. */
export function toCanonicalCidr(text: string): string {
  const range = parse(text);
  if (!range) throw new TypeError(`cannot read the address range ${text}`);
  return range;
}

function parse(text: string): string | undefined {
  const [address = '', prefix] = text.split('/', 2);
  const bits = addressBits(address);
  if (bits === undefined || text.split('/').length > 2) return undefined;
  if (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) return undefined;
  const length = prefix === undefined ? bits : Number(prefix);
  if (length > bits) return undefined;
  const cidr = `${address}/${length}`;
  const network =
    bits === 32
      ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
      : ipaddr.IPv6.networkAddressFromCIDR(cidr);
  return `${network.toString()}/${length}`;
}

/** Scoped and IPv4-mapped addresses are invalid: senders are never compared in that form. */
function addressBits(address: string): 32 | 128 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return 32;
  if (!ipaddr.IPv6.isValid(address) || address.includes('%')) return undefined;
  return ipaddr.IPv6.parse(address).isIPv4MappedAddress() ? undefined : 128;
}
