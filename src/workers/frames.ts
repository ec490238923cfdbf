/**
 * How messages between two processes of one Weir lie on their connection: a fixed header, a text,
 * and bytes that are copied once, into memory of their own. Pure; it knows nothing of what is said.
 *
 *  0 u32 bytes of text   4 u32 bytes of tail   8 u32 id   12 u32 kind
 */

/** A question waits for an answer or a fault of the same id; to what is told, nobody answers. */
export const frameKinds = { question: 1, told: 2, answer: 3, fault: 4 } as const;

export interface Frame {
  readonly kind: number;
  readonly id: number;
  readonly text: string;
  /** Stands alone on its memory, so that it can be given back at once. */
  readonly tail: Buffer;
}

export const frameHeaderBytes = 16;
/** Both are far above what is ever sent: a bound on what a broken stream could ask for. */
const maxTextBytes = 256 * 1024 * 1024;
const maxTailBytes = 1024 * 1024 * 1024;
const nothing = Buffer.alloc(0);

/** All of a frame but its tail. */
export function encodeFrame({ kind, id, text }: Omit<Frame, 'tail'>, tailBytes: number): Buffer {
  const textBytes = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(frameHeaderBytes + textBytes);
  bytes.writeUInt32LE(textBytes, 0);
  bytes.writeUInt32LE(tailBytes, 4);
  bytes.writeUInt32LE(id, 8);
  bytes.writeUInt32LE(kind, 12);
  bytes.write(text, frameHeaderBytes);
  return bytes;
}

/** Puts frames together from chunks of any size. */
export class FrameReader {
  readonly #header = Buffer.allocUnsafe(frameHeaderBytes);
  #text: Buffer | undefined;
  #tail: Buffer | undefined;
  /** The one of the three that is being filled. */
  #part = this.#header;
  #filled = 0;

  /** @throws Error where the stream cannot be one of frames: nothing after it can be read. */
  push(chunk: Buffer, take: (frame: Frame) => void): void {
    let at = 0;
    for (;;) {
      const count = Math.min(this.#part.length - this.#filled, chunk.length - at);
      chunk.copy(this.#part, this.#filled, at, at + count);
      this.#filled += count;
      at += count;
      if (this.#filled < this.#part.length) return;
      this.#filled = 0;
      this.#goOn(take);
    }
  }

  #goOn(take: (frame: Frame) => void): void {
    if (this.#text === undefined) {
      const textBytes = this.#header.readUInt32LE(0);
      if (textBytes > maxTextBytes) throw new Error(`cannot read a text of ${textBytes} bytes`);
      this.#part = this.#text = Buffer.allocUnsafe(textBytes);
      return;
    }
    if (this.#tail === undefined) {
      const tailBytes = this.#header.readUInt32LE(4);
      if (tailBytes > maxTailBytes) throw new Error(`cannot read a tail of ${tailBytes} bytes`);
      this.#part = this.#tail = tailBytes === 0 ? nothing : Buffer.allocUnsafeSlow(tailBytes);
      return;
    }
    const [text, tail] = [this.#text.toString(), this.#tail];
    this.#text = undefined;
    this.#tail = undefined;
    this.#part = this.#header;
    take({ id: this.#header.readUInt32LE(8), kind: this.#header.readUInt32LE(12), text, tail });
  }
}
