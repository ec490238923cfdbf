/**
 * Frees memory outside the heap at once. The garbage collector sees only small objects and would
 * let hundreds of megabytes of payloads accumulate.
 */

/** The buffer of a view that shares it with no other; undefined if it may be shared. */
export function ownMemory(view: Uint8Array): ArrayBuffer | undefined {
  const { buffer } = view;
  return buffer instanceof ArrayBuffer && buffer.byteLength === view.byteLength
    ? buffer
    : undefined;
}

/** Detaches the buffers; their views get length 0. */
export function freeMemory(buffers: Iterable<ArrayBuffer | undefined>): void {
  for (const buffer of buffers) if (buffer?.detached === false) buffer.transfer(0);
}
