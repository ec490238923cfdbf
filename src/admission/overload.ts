/**
 * The cap on memory in flight: what the bodies being worked on are estimated to cost as heap. Over
 * it, requests are refused before their bodies are read; nothing else in the process slows senders
 * down.
 */
import { AppError } from '../model/errors.ts';
import { createShares } from '../std/shares.ts';
import { createBodyBuffers } from './body-buffers.ts';
import type { MemoryLease } from './port.ts';

/** What has most likely arrived together with the head. */
const firstBytes = 16 * 1024;
/** What a request costs beside its body: head, stream, batch and answer. */
const requestOverheadBytes = 4096;
/** Of the cap, for buffers that wait for the next body. */
const keptShare = 1 / 16;
/** A request that takes no more than this of the cap is small. */
const smallRequestShare = 1 / 64;
/** Of the cap, what large requests leave to small ones. */
const reservedShare = 1 / 8;
/** Of the cap, what one request takes at most. */
const mostChargedShare = 1 / 2;

export interface Overload {
  /**
   * What a body is declared to be must find room; what it holds grows as it arrives, for a slow
   * sender must not hold what it has yet to send.
   * @throws AppError `unavailable`
   */
  reserve(account: string, bodyBytes: number, heapBytesPerBodyByte: number): MemoryLease;
  inFlightBytes(): number;
}

/**
 * Small and large requests are counted apart, so that neither keeps the other out: a large one
 * alone may pass the cap, since its size has a limit of its own, and takes half of it at most, so
 * that there is room beside it. All together take at most the cap and one large request; an account
 * has its share of the cap, and of the room for small ones.
 */
export function createOverload(maxInFlightBytes: number): Overload {
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
        ? `the account has ${own} of ${maxInFlightBytes} bytes in flight, the rest is for others`
        : `${inFlightBytes} of ${maxInFlightBytes} bytes are in flight`;
    const advice = 'send less at once, or raise ingest.maxInFlightBytes';
    throw new AppError('unavailable', `cannot take more requests now: ${held}; ${advice}`, {
      retryAfterSeconds: 1,
    });
  }

  return {
    reserve(account, bodyBytes, heapBytesPerBodyByte) {
      const estimate = (bytes: number) => requestOverheadBytes + bytes * heapBytesPerBodyByte;
      let held = estimate(Math.min(bodyBytes, firstBytes));
      let isReleased = false;
      let buffer: Buffer | undefined;
      const growTo = (needed: number) => {
        if (needed <= held) return;
        // Its own share does not count as somebody else's load.
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
