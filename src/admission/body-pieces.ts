/**
 * Gathers the pieces of a body in memory that is proportional to what they hold: each piece of a
 * transport is an object of its own and may keep the whole read it came in, so a body of one-byte
 * frames would take a hundred times its size.
 */

export interface BodyPieces {
  /** Keeps the piece or copies it; the caller may not change it any more. */
  add(piece: Buffer): void;
  /** Of the buffers that hold the pieces; at most twice what they hold and `smallestSlabBytes`. */
  heldBytes(): number;
  /** Copies everything to the start of `target`, and lets go of it. */
  moveTo(target: Buffer): void;
  /** Everything in one buffer. */
  whole(): Buffer;
}

/** A read of TLS gives at most 16 KiB, so a larger piece keeps little beside itself. */
const largePieceBytes = 8 * 1024;
const smallestSlabBytes = 1024;
const largestSlabBytes = 64 * 1024;

export function createBodyPieces(): BodyPieces {
  const buffers: Buffer[] = [];
  let slab: Buffer | undefined;
  let filled = 0;
  let size = 0;
  let held = 0;

  function keep(buffer: Buffer): void {
    buffers.push(buffer);
    held += buffer.length;
  }

  function copy(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (slab === undefined || filled === slab.length) {
        const bytes = Math.min(largestSlabBytes, Math.max(smallestSlabBytes, size));
        slab = Buffer.allocUnsafeSlow(bytes);
        filled = 0;
        keep(slab);
      }
      const count = piece.copy(slab, filled, at);
      filled += count;
      at += count;
    }
  }

  return {
    add(piece) {
      // Most bodies come in one piece. After the first slab all go to slabs, or a sender of small
      // and large pieces by turns would leave each slab nearly empty.
      const isKept = slab === undefined && (size === 0 || piece.length >= largePieceBytes);
      if (isKept) keep(piece);
      else copy(piece);
      size += piece.length;
    },
    heldBytes: () => held,
    moveTo(target) {
      let at = 0;
      for (const buffer of buffers.splice(0)) at += buffer.copy(target, at, 0, size - at);
      slab = undefined;
      size = 0;
      held = 0;
    },
    whole() {
      const [only] = buffers;
      if (buffers.length === 1 && only !== undefined) return only.subarray(0, size);
      return Buffer.concat(buffers, size);
    },
  };
}
