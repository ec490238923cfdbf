/**
 * Reads the frames of one file in bounded memory. Damaged frames are skipped; the bytes between two
 * intact frames are reported as a gap, whose meaning is up to the caller.
 */
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { readRange } from '../../files/atomic-file.ts';
import {
  type FrameHeader,
  frameHeaderBytes,
  frameKinds,
  frameMagic,
  isBodyIntact,
  readFrameHeader,
} from '../frame.ts';

export interface ScannedFrame {
  readonly header: FrameHeader;
  readonly offset: number;
  /** A view of the reader's window. */
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Bytes of the file without a readable frame. */
export interface Gap {
  readonly offset: number;
  readonly bytes: number;
  /** The readable sequences before and after it; undefined at the end of the file. */
  readonly afterSequence: bigint;
  readonly beforeSequence: bigint | undefined;
}

export interface ReaderOptions {
  readonly writer: bigint;
  /** Offset of the first frame. */
  readonly start: number;
  /** Frames up to this sequence do not belong to the file. */
  readonly afterSequence: bigint;
  /** Read ahead, in bytes. */
  readonly windowBytes: number;
}

const blockBytes = 4096;

export class FrameReader {
  readonly #fs: FileSystem;
  readonly #file: FileId;
  readonly #options: ReaderOptions;
  #offset: number;
  #sequence: bigint;
  #stepBackTo: { readonly offset: number; readonly sequence: bigint } | undefined;
  #window: Buffer<ArrayBuffer> = Buffer.alloc(0);
  #windowOffset = 0;
  #gapOffset: number | undefined;
  #gaps: Gap[] = [];

  constructor(fs: FileSystem, file: FileId, options: ReaderOptions) {
    this.#fs = fs;
    this.#file = file;
    this.#options = options;
    this.#offset = options.start;
    this.#sequence = options.afterSequence;
  }

  /** Of the last frame returned. */
  get sequence(): bigint {
    return this.#sequence;
  }

  /** The next intact frame before `end`, or undefined. */
  next(end: number): ScannedFrame | undefined {
    while (this.#offset < end) {
      const offset = this.#offset;
      const header = this.#headerAt(offset, end);
      if (header === undefined) {
        this.#gapOffset ??= offset;
        this.#offset = this.#findMagic(offset + 1, end);
        continue;
      }
      const bytes = this.#view(offset, header.length, end);
      this.#offset = offset + header.length;
      if (isBodyIntact(bytes, header)) {
        this.#closeGap(offset, header.sequence);
        this.#stepBackTo = { offset, sequence: this.#sequence };
        this.#sequence = header.sequence;
        return { header, offset, bytes };
      }
      this.#gapOffset ??= offset;
    }
    this.#closeGap(this.#offset, undefined);
    return undefined;
  }

  /** Unreads the last frame. */
  stepBack(): void {
    if (this.#stepBackTo === undefined) throw new Error('cannot step back: no frame was read');
    this.#offset = this.#stepBackTo.offset;
    this.#sequence = this.#stepBackTo.sequence;
    this.#stepBackTo = undefined;
  }

  /** The gaps since the last call. */
  takeGaps(): Gap[] {
    const gaps = this.#gaps;
    this.#gaps = [];
    return gaps;
  }

  /** Drops the window, whose memory the caller may then transfer. */
  dropWindow(): void {
    this.#window = Buffer.alloc(0);
  }

  #headerAt(offset: number, end: number): FrameHeader | undefined {
    const header = readFrameHeader(this.#view(offset, frameHeaderBytes, end), 0);
    if (header === undefined || offset + header.length > end) return undefined;
    // A payload may contain a frame, of this log or another.
    const isOurs = header.kind === frameKinds.batch && header.writer === this.#options.writer;
    if (!isOurs) return undefined;
    if (header.groupOffset > offset || header.sequence <= this.#sequence) return undefined;
    return header;
  }

  #closeGap(offset: number, beforeSequence: bigint | undefined): void {
    if (this.#gapOffset === undefined) return;
    this.#gaps.push({
      offset: this.#gapOffset,
      bytes: offset - this.#gapOffset,
      afterSequence: this.#sequence,
      beforeSequence,
    });
    this.#gapOffset = undefined;
  }

  #findMagic(from: number, end: number): number {
    let offset = from;
    while (offset + frameMagic.length <= end) {
      const view = this.#view(offset, frameMagic.length, end);
      if (view.length < frameMagic.length) return end;
      const ahead = this.#window.subarray(offset - this.#windowOffset);
      const found = ahead.indexOf(frameMagic);
      if (found >= 0) return offset + found;
      offset += ahead.length - (frameMagic.length - 1);
    }
    return end;
  }

  /** `length` bytes from `offset`, fewer at the end of the file. */
  #view(offset: number, length: number, end: number): Buffer<ArrayBuffer> {
    const from = offset - this.#windowOffset;
    if (from >= 0 && from + length <= this.#window.length) {
      return this.#window.subarray(from, from + length);
    }
    const wanted = Math.max(length, Math.min(this.#options.windowBytes, end - offset));
    this.#window = readTolerantly(this.#fs, this.#file, offset, wanted);
    this.#windowOffset = offset;
    return this.#window.subarray(0, length);
  }
}

/**
 * Returns unreadable blocks as zeros, which the checksums reveal, so that the rest is readable.
 * @throws Error where the start of the file cannot be read either: the disk is gone, not damaged
 */
function readTolerantly(
  fs: FileSystem,
  file: FileId,
  offset: number,
  length: number,
): Buffer<ArrayBuffer> {
  try {
    return readRange(fs, file, offset, length);
  } catch {
    readRange(fs, file, 0, 1);
    const bytes = Buffer.from(new ArrayBuffer(length));
    for (let at = 0; at < length; at += blockBytes) {
      const size = Math.min(blockBytes, length - at);
      try {
        readRange(fs, file, offset + at, size).copy(bytes, at);
      } catch {
        bytes.fill(0, at, at + size);
      }
    }
    return bytes;
  }
}
