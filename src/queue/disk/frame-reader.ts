/**
 * Walks the frames of one file in bounded memory. A frame that is not what was written is stepped
 * over, never handed out; what lies between two good frames is told as a gap. It decides nothing
 * about what a gap means.
 */
import type { FileId, FileSystem } from '../../files/file-system.ts';
import { readRange } from '../../files/whole-file.ts';
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
  /** A view of the reader's current window. */
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Bytes of the file that hold no readable frame. */
export interface Gap {
  readonly offset: number;
  readonly bytes: number;
  /** The readable sequences around it; `undefined` at the end of the file. */
  readonly afterSequence: bigint;
  readonly beforeSequence: bigint | undefined;
}

export interface ReaderOptions {
  readonly writer: bigint;
  /** Where the first frame starts. */
  readonly start: number;
  /** Frames of this sequence or lower are none of this file's. */
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

  /** The last sequence handed out. */
  get sequence(): bigint {
    return this.#sequence;
  }

  /** The next good frame before `end`, or undefined when there is none. */
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
      if (isBodyIntact(bytes, 0, header)) {
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

  /** Takes the last frame back, so that it comes next again. */
  stepBack(): void {
    if (this.#stepBackTo === undefined) throw new Error('cannot step back: no frame was read');
    this.#offset = this.#stepBackTo.offset;
    this.#sequence = this.#stepBackTo.sequence;
    this.#stepBackTo = undefined;
  }

  /** The gaps met since the last call. */
  takeGaps(): Gap[] {
    const gaps = this.#gaps;
    this.#gaps = [];
    return gaps;
  }

  /** Forgets the window, whose memory may then be given away. */
  dropWindow(): void {
    this.#window = Buffer.alloc(0);
  }

  #headerAt(offset: number, end: number): FrameHeader | undefined {
    const header = readFrameHeader(this.#view(offset, frameHeaderBytes, end), 0);
    if (header === undefined || offset + header.length > end) return undefined;
    // A frame of another log, or one that a payload carries, must never be taken for one of ours.
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

  /** `length` bytes from `offset`, fewer where the file ends before. */
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
 * Blocks the disk cannot read come back as zeros, which the checksums then report; the rest stays
 * readable.
 * @throws Error where not even the start of the file can be read: then the disk is away, and
 * nothing is lost yet.
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
