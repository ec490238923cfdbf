/**
 * The cap on memory in flight: the estimated heap of the requests being processed. Requests beyond
 * it fail before their bodies are read. This is the only back-pressure on senders.
 */
import { AppError } from '../model/errors.ts';
import { createShares } from '../std/shares.ts';
import type { MemoryLease } from './port.ts';

/** Part of a body that usually arrives with the head. */
const firstBytes = 16 * 1024;
/** Cost of a request besides its body: head, stream, batch and answer. */
const requestOverheadBytes = 4096;
/** Share of the cap for idle buffers. */
const keptShare = 1 / 16;
/** Share of the cap up to which a request is small. */
const smallRequestShare = 1 / 64;
/** Share of the cap that is reserved for small requests. */
const reservedShare = 1 / 8;
/** Largest share of the cap that one request is charged. */
const mostChargedShare = 1 / 2;

export type Overload = ReturnType<typeof createOverload>;

/**
 * Small and large requests have separate shares, so that neither starves the other. A single large
 * request may exceed the cap, since its size is limited, and is charged at most half of it. In
 * total, requests take at most the cap plus one large request. Accounts share fairly.
 */
export function createOverload(maxInFlightBytes: number) {
  const buffers = createBodyBuffers(maxInFlightBytes * keptShare);
  const maxSmallBytes = maxInFlightBytes * smallRequestShare;
  const reservedBytes = maxInFlightBytes * reservedShare;
  const maxChargedBytes = maxInFlightBytes * mostChargedShare;
  let inFlightBytes = 0;
  const all = createShares(maxInFlightBytes);
  const small = createShares(reservedBytes);

  function hasRoom(account: string, bytes: number): boolean {
    if (bytes <= maxSmallBytes) {
      return small.hasRoom(account, bytes) || all.hasRoom(account, bytes);
    }
    const isAlone = all.held() === small.held();
    const keptBytes = Math.max(0, reservedBytes - small.held());
    return isAlone || all.hasRoom(account, bytes + keptBytes);
  }

  function count(account: string, bytes: number): void {
    inFlightBytes += bytes;
    const charged = Math.min(Math.abs(bytes), maxChargedBytes);
    all.take(account, bytes < 0 ? -charged : charged);
    if (charged <= maxSmallBytes) small.take(account, bytes);
  }

  function assertRoom(account: string, bytes: number): void {
    if (hasRoom(account, bytes)) return;
    const own = all.heldBy(account);
    const held =
      own > 0
        ? `the account has ${own} of ${maxInFlightBytes} bytes in flight, the rest is reserved`
        : `${inFlightBytes} of ${maxInFlightBytes} bytes are in flight`;
    const advice = 'send less at once, or raise ingest.maxInFlightBytes';
    throw new AppError('unavailable', `cannot accept more requests now: ${held}; ${advice}`, {
      retryAfterSeconds: 1,
    });
  }

  return {
    /**
     * Checks that the declared body fits, but charges bytes as they arrive, so that a slow sender
     * does not hold memory for bytes it has not sent.
     * @throws AppError `unavailable`
     */
    reserve(account: string, bodyBytes: number, heapBytesPerBodyByte: number): MemoryLease {
      const estimate = (bytes: number) => requestOverheadBytes + bytes * heapBytesPerBodyByte;
      let held = estimate(Math.min(bodyBytes, firstBytes));
      let isReleased = false;
      let buffer: Buffer | undefined;
      const growTo = (needed: number) => {
        if (needed <= held) return;
        // Its own bytes must not count against it.
        count(account, -held);
        try {
          assertRoom(account, needed);
        } catch (error) {
          count(account, held);
          throw error;
        }
        count(account, needed);
        held = needed;
      };
      assertRoom(account, estimate(bodyBytes));
      count(account, held);
      return {
        growTo: (bytes) => growTo(estimate(bytes)),
        coverHeap: (bytes) => growTo(requestOverheadBytes + bytes),
        buffer(bytes) {
          buffer ??= buffers.take(bytes);
          return buffer;
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          count(account, -held);
          if (buffer !== undefined) buffers.give(buffer);
        },
      };
    },
    inFlightBytes: () => inFlightBytes,
  };
}

const smallestBytes = 64 * 1024;

/**
 * A pool of buffers for large bodies: allocating memory outside the heap per request would trigger
 * garbage collection.
 * @param maxKeptBytes limit on idle buffers
 */
function createBodyBuffers(maxKeptBytes: number) {
  /** Free buffers by size, each a power of two. */
  const free = new Map<number, Buffer[]>();
  let keptBytes = 0;
  return {
    /** @returns a buffer of at least this size with arbitrary content */
    take(bytes: number): Buffer {
      const size = Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(bytes)));
      const buffer = free.get(size)?.pop();
      if (buffer === undefined) return Buffer.allocUnsafeSlow(size);
      keptBytes -= size;
      return buffer;
    },
    /** Returns a buffer, which must not be used afterwards. */
    give(buffer: Buffer): void {
      if (keptBytes + buffer.length > maxKeptBytes) return;
      keptBytes += buffer.length;
      const sameSize = free.get(buffer.length);
      if (sameSize === undefined) free.set(buffer.length, [buffer]);
      else sameSize.push(buffer);
    },
  };
}
