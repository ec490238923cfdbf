/**
 * Buffers for large bodies, used again and again: memory outside the heap that comes and goes with
 * every request would keep the garbage collector running. It knows nothing of requests.
 */

export interface BodyBuffers {
  /** @returns a buffer of at least this size; what it holds is left over from earlier. */
  take(bytes: number): Buffer;
  /** Hands a buffer back; nobody may look at it any more. */
  give(buffer: Buffer): void;
}

const smallestBytes = 64 * 1024;

/** @param maxKeptBytes what the buffers that nobody uses may take together. */
export function createBodyBuffers(maxKeptBytes: number): BodyBuffers {
  /** Free buffers by size, each a power of two. */
  const free = new Map<number, Buffer[]>();
  let keptBytes = 0;
  return {
    take(bytes) {
      const size = Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(bytes)));
      const buffer = free.get(size)?.pop();
      if (buffer === undefined) return Buffer.allocUnsafeSlow(size);
      keptBytes -= size;
      return buffer;
    },
    give(buffer) {
      if (keptBytes + buffer.length > maxKeptBytes) return;
      keptBytes += buffer.length;
      const sameSize = free.get(buffer.length);
      if (sameSize === undefined) free.set(buffer.length, [buffer]);
      else sameSize.push(buffer);
    },
  };
}
