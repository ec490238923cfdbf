/**
 * Gives memory outside the heap back the moment it is no longer needed. Left to the garbage
 * collector, which sees only small objects, hundreds of megabytes of payloads would pile up.
 */

/** The memory that a view alone stands on; undefined where other views may share it. */
export function ownMemory(view: Uint8Array): ArrayBuffer | undefined {
  const { buffer } = view;
  return buffer instanceof ArrayBuffer && buffer.byteLength === view.byteLength
    ? buffer
    : undefined;
}

/** Empties the buffers; every view of them has length 0 from now on. */
export function freeMemory(buffers: Iterable<ArrayBuffer | undefined>): void {
  for (const buffer of buffers) if (buffer?.detached === false) buffer.transfer(0);
}
