/**
 * Reads the header of the PROXY protocol, versions 1 and 2
 * (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt), by which a proxy names its client.
 */
import { isIP, isIPv4, isIPv6 } from 'node:net';

export interface ProxyHeader {
  readonly byteLength: number;
  /** Undefined = the connection is the proxy's own, such as a health check. */
  readonly client: { readonly address: string; readonly port: number } | undefined;
}

/** Of version 1, end of line included. */
const maxLineBytes = 107;
const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const headBytes = signature.length + 4;
/** Addresses, and extensions such as the name and certificate of a TLS client. */
const maxRestBytes = 4096;

/**
 * @returns undefined if more bytes are needed
 * @throws Error if the bytes are no header
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader | undefined {
  const start = bytes.subarray(0, signature.length);
  if (start.equals(signature.subarray(0, start.length))) return readBinary(bytes);
  if (start.toString('latin1').startsWith('PROXY '.slice(0, start.length))) return readLine(bytes);
  throw new Error('cannot read the PROXY header: the connection begins with something else');
}

function readLine(bytes: Buffer): ProxyHeader | undefined {
  const end = bytes.subarray(0, maxLineBytes).indexOf('\r\n');
  if (end === -1) {
    if (bytes.length < maxLineBytes) return undefined;
    throw new Error(`cannot read the PROXY header: its line exceeds ${maxLineBytes} bytes`);
  }
  const line = bytes.toString('latin1', 0, end);
  const byteLength = end + 2;
  const [, family, address = '', target = '', port = '', ...rest] = line.split(' ');
  if (family === 'UNKNOWN') return { byteLength, client: undefined };
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : undefined;
  const isWhole = rest.length === 1 && isPort(port) && isPort(rest[0] ?? '');
  if (!isAddress?.(address) || !isAddress(target) || !isWhole || address.includes('%')) {
    throw new Error(`cannot read the PROXY header ${JSON.stringify(line)}`);
  }
  return { byteLength, client: { address, port: Number(port) } };
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}

function readBinary(bytes: Buffer): ProxyHeader | undefined {
  if (bytes.length < headBytes) return undefined;
  const command = bytes.readUInt8(12);
  const family = bytes.readUInt8(13);
  const restBytes = bytes.readUInt16BE(14);
  if (command !== 0x20 && command !== 0x21) {
    throw new Error(`cannot read the PROXY header: unknown version and command ${command}`);
  }
  if (restBytes > maxRestBytes) {
    throw new Error(`cannot read the PROXY header: it exceeds ${maxRestBytes} bytes`);
  }
  const byteLength = headBytes + restBytes;
  if (bytes.length < byteLength) return undefined;
  const rest = bytes.subarray(headBytes, byteLength);
  // LOCAL, or a family that is none of TCP over IPv4 and IPv6: the real ends count.
  if (command === 0x20 || (family !== 0x11 && family !== 0x21)) {
    return { byteLength, client: undefined };
  }
  const addressBytes = family === 0x11 ? 4 : 16;
  if (rest.length < 2 * addressBytes + 4) {
    throw new Error('cannot read the PROXY header: its addresses are cut short');
  }
  const address = toAddress(rest.subarray(0, addressBytes));
  return { byteLength, client: { address, port: rest.readUInt16BE(2 * addressBytes) } };
}

function toAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    bytes.readUInt16BE(2 * index).toString(16),
  );
  const address = groups.join(':');
  if (isIP(address) === 0) throw new Error(`cannot read the address ${address}`);
  return address;
}
