/**
 * The cap on memory in flight: what the bodies being worked on are estimated to cost as heap. Over
 * it, requests are refused before their bodies are read; nothing else in the process slows senders
 * down.
 */
import { AppError } from '../model/errors.ts';
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

export interface Overload {
  /**
   * What a body is declared to be must find room; what it holds grows as it arrives, for a slow
   * sender must not hold what it has yet to send.
   * @throws AppError `unavailable`
   */
  reserve(bodyBytes: number, heapBytesPerBodyByte: number): MemoryLease;
  inFlightBytes(): number;
}

/**
 * Small and large requests are counted apart, so that neither keeps the other out: a large one
 * alone may pass the cap, since its size has a limit of its own, and beside it there is room for
 * small ones. All together take at most the cap and one large request.
 */
export function createOverload(maxInFlightBytes: number): Overload {
  const buffers = createBodyBuffers(maxInFlightBytes * keptShare);
  const maxSmallBytes = maxInFlightBytes * smallRequestShare;
  const reservedBytes = maxInFlightBytes * reservedShare;
  let small = 0;
  let large = 0;

  function hasRoom(bytes: number): boolean {
    if (bytes <= maxSmallBytes) {
      return small + bytes <= reservedBytes || small + large + bytes <= maxInFlightBytes;
    }
    return large === 0 || large + Math.max(small, reservedBytes) + bytes <= maxInFlightBytes;
  }

  function count(bytes: number): void {
    if (Math.abs(bytes) <= maxSmallBytes) small += bytes;
    else large += bytes;
  }

  function assertRoom(bytes: number): void {
    if (!hasRoom(bytes)) {
      throw new AppError(
        'unavailable',
        'cannot take more requests at this moment: the memory for requests in flight is used up',
        { retryAfterSeconds: 1 },
      );
    }
  }

  return {
    reserve(bodyBytes, heapBytesPerBodyByte) {
      const estimate = (bytes: number) => requestOverheadBytes + bytes * heapBytesPerBodyByte;
      let held = estimate(Math.min(bodyBytes, firstBytes));
      let isReleased = false;
      let buffer: Buffer | undefined;
      const growTo = (needed: number) => {
        if (needed <= held) return;
        // Its own share does not count as somebody else's load.
        count(-held);
        try {
          assertRoom(needed);
        } catch (error) {
          count(held);
          throw error;
        }
        count(needed);
        held = needed;
      };
      assertRoom(estimate(bodyBytes));
      count(held);
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
          count(-held);
          if (buffer !== undefined) buffers.give(buffer);
        },
      };
    },
    inFlightBytes: () => small + large,
  };
}
