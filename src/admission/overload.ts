/**
 * The cap on memory in flight: what the bodies being worked on are estimated to cost as heap. Over
 * it, requests are refused before their bodies are read; nothing else in the process slows senders
 * down.
 */
import { AppError } from '../model/errors.ts';
import { createBodyBuffers } from './body-buffers.ts';
import type { MemoryLease } from './port.ts';

/** What a request costs beside its body: head, stream, batch and answer. */
const requestOverheadBytes = 4096;
/** Of the cap, for buffers that wait for the next body. */
const keptShare = 1 / 16;

export interface Overload {
  /** @throws AppError `unavailable` */
  reserve(bodyBytes: number, heapBytesPerBodyByte: number): MemoryLease;
  inFlightBytes(): number;
}

export function createOverload(maxInFlightBytes: number): Overload {
  const buffers = createBodyBuffers(maxInFlightBytes * keptShare);
  let inFlight = 0;

  function take(bytes: number): void {
    // One request alone may pass the cap: its size has a limit of its own, and it must not starve.
    if (inFlight > 0 && inFlight + bytes > maxInFlightBytes) {
      throw new AppError(
        'unavailable',
        'cannot take more requests at this moment: the memory for requests in flight is used up',
        { retryAfterSeconds: 1 },
      );
    }
    inFlight += bytes;
  }

  return {
    reserve(bodyBytes, heapBytesPerBodyByte) {
      const estimate = (bytes: number) => requestOverheadBytes + bytes * heapBytesPerBodyByte;
      let held = estimate(bodyBytes);
      let isReleased = false;
      let buffer: Buffer | undefined;
      const growTo = (needed: number) => {
        if (needed <= held) return;
        // Its own share does not count as somebody else's load.
        inFlight -= held;
        try {
          take(needed);
        } catch (error) {
          inFlight += held;
          throw error;
        }
        held = needed;
      };
      take(held);
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
          inFlight -= held;
          if (buffer !== undefined) buffers.give(buffer);
        },
      };
    },
    inFlightBytes: () => inFlight,
  };
}
