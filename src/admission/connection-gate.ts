/**
 * Limits open and new connections per address, so that one address cannot exhaust connections or
 * CPU time for handshakes.
 */
import { createTokenBucket, type TokenBucket } from '../std/token-bucket.ts';
import { addressKey, isTrusted, parseRanges } from './client-address.ts';
import type { ConnectionGate, ConnectionPermit } from './port.ts';

export interface ConnectionGateOptions {
  readonly maxConnectionsPerAddress: number;
  readonly newConnectionsPerSecond: number;
  /** Exempt addresses. */
  readonly trustedProxies: readonly string[];
}

interface Known {
  open: number;
  readonly fresh: TokenBucket;
}

/** Burst: clients behind one gateway start together. */
const burstSeconds = 5;
/** Price of an abusive connection, in new connections. */
const abusePrice = 50;
/** Beyond it addresses without connections and with a full burst are evicted. */
const maxKnown = 50_000;

const free: ConnectionPermit = { closed: () => {}, abused: () => {} };

/**
 * @param nowMs a clock that never goes back
 * @throws AppError `malformed` when a trusted proxy is no address range
 */
export function createConnectionGate(
  { maxConnectionsPerAddress, newConnectionsPerSecond, ...options }: ConnectionGateOptions,
  nowMs: () => number,
): ConnectionGate {
  const trustedProxies = parseRanges(options.trustedProxies);
  const proxies = [...trustedProxies, ...parseRanges(['127.0.0.0/8', '::1/128'])];
  const known = new Map<string, Known>();
  const rate = {
    burst: newConnectionsPerSecond * burstSeconds,
    perSecond: newConnectionsPerSecond,
  };

  function find(key: string): Known | undefined {
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= maxKnown) forgetIdle();
    // A flood from this many addresses is limited by the cap on all connections.
    if (known.size >= maxKnown) return undefined;
    const fresh: Known = { open: 0, fresh: createTokenBucket(rate, nowMs) };
    known.set(key, fresh);
    return fresh;
  }

  function forgetIdle(): void {
    for (const [key, { open, fresh }] of known) {
      if (open === 0 && fresh.isFull()) known.delete(key);
    }
  }

  return {
    admit(peerAddress) {
      if (isTrusted(peerAddress, trustedProxies)) return free;
      const one = find(addressKey(peerAddress));
      if (one === undefined) return free;
      if (one.open >= maxConnectionsPerAddress || !one.fresh.take(1)) return undefined;
      one.open += 1;
      let isClosed = false;
      return {
        closed() {
          if (!isClosed) one.open -= 1;
          isClosed = true;
        },
        abused: () => one.fresh.charge(abusePrice),
      };
    },
    admitProxy: (peerAddress) => (isTrusted(peerAddress, proxies) ? free : undefined),
  };
}
