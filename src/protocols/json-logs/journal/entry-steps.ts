/**
 * Splits a journal that arrives in chunks into steps of whole entries, and cuts long fields, so
 * that an entry of any size takes bounded memory.
 */
import type { StepReader } from '../../../model/protocol.ts';
import { malformed } from './export-format.ts';

export interface StepLimits {
  /** A step ends with the entry that reaches one of these. */
  readonly bytes: number;
  readonly entries: number;
  readonly elapsedMs: number;
  /** Longer fields are cut to this many bytes. */
  readonly fieldBytes: number;
  /** Of an entry; what is beyond is cut, or left out. */
  readonly entryBytes: number;
}

const newline = 0x0a;
const equals = 0x3d;
const lengthBytes = 8;
/** Of a field besides name and value: the length and two line breaks. */
export const fieldOverheadBytes = lengthBytes + 2;
/** As of journald, with room. */
const maxNameBytes = 256;

type Place = 'name' | 'text' | 'length' | 'data' | 'end of data';

/** Reads one step. */
export class EntrySteps implements StepReader {
  readonly #limits: StepLimits;
  readonly #nowMs: () => number;
  readonly #untilMs: number;
  #place: Place = 'name';
  #nameBytes = 0;
  readonly #length = Buffer.alloc(lengthBytes);
  #lengthRead = 0;
  /** Bytes of the field that may still be kept, and bytes of its data that are to come. */
  #room = 0;
  #dataLeft = 0;
  #stepBytes = 0;
  /** Of the entry, with what is left out of its names. */
  #entryBytes = 0;
  /** The field is beyond `entryBytes`. */
  #isLeftOut = false;
  #entries = 0;
  #kept: Buffer[] = [];
  /** Where the bytes of the chunk that are kept and not in `#kept` begin. */
  #from = 0;

  constructor(limits: StepLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#untilMs = nowMs() + limits.elapsedMs;
  }

  push(chunk: Buffer): { readonly kept: Buffer; readonly end: number | undefined } {
    const { bytes, entries, entryBytes } = this.#limits;
    const isLate = this.#nowMs() >= this.#untilMs;
    this.#kept = [];
    this.#from = 0;
    for (let at = 0; at < chunk.length; ) {
      const isFirst = this.#place === 'name' && this.#nameBytes === 0;
      if (!isFirst || chunk[at] !== newline) {
        if (isFirst) this.#isLeftOut = this.#entryBytes >= entryBytes;
        const next = this.#read(chunk, at);
        if (this.#isLeftOut) this.#leaveOut(chunk, at, next);
        at = next;
        continue;
      }
      at += 1;
      if (this.#entryBytes === 0) {
        this.#leaveOut(chunk, at - 1, at);
        continue;
      }
      this.#entryBytes = 0;
      this.#entries += 1;
      const stepBytes = this.#stepBytes + at - this.#from;
      const isFull = isLate || stepBytes >= bytes || this.#entries >= entries;
      if (isFull) return this.#keep(chunk, at, at);
    }
    return this.#keep(chunk, chunk.length, undefined);
  }

  #keep(chunk: Buffer, to: number, end: number | undefined) {
    this.#leaveOut(chunk, to, to);
    const [only] = this.#kept;
    const isOne = this.#kept.length === 1 && only !== undefined;
    return { kept: isOne ? only : Buffer.concat(this.#kept), end };
  }

  /** Keeps what is before `start`, and not the bytes from there to `end`. */
  #leaveOut(chunk: Buffer, start: number, end: number): void {
    if (start > this.#from) {
      this.#kept.push(chunk.subarray(this.#from, start));
      this.#stepBytes += start - this.#from;
    }
    this.#from = end;
  }

  /** @returns the position after what was read */
  #read(chunk: Buffer, at: number): number {
    switch (this.#place) {
      case 'name':
        return this.#readName(chunk, at);
      case 'text':
        return this.#readText(chunk, at);
      case 'length':
        return this.#readLength(chunk, at);
      case 'data': {
        const end = Math.min(chunk.length, at + this.#dataLeft);
        this.#dataLeft -= end - at;
        this.#cut(chunk, at, end);
        if (this.#dataLeft === 0) this.#place = 'end of data';
        return end;
      }
      case 'end of data':
        if (chunk[at] !== newline) {
          throw malformed(this.#stepBytes, 'no line break follows the data of a field');
        }
        this.#place = 'name';
        this.#nameBytes = 0;
        return at + 1;
    }
  }

  #readName(chunk: Buffer, at: number): number {
    const from = at;
    while (at < chunk.length && chunk[at] !== newline && chunk[at] !== equals) at += 1;
    this.#nameBytes += at - from;
    if (this.#nameBytes > maxNameBytes) {
      throw malformed(this.#stepBytes, `a name has more than ${maxNameBytes} bytes`);
    }
    if (at === chunk.length) return at;
    const { fieldBytes, entryBytes } = this.#limits;
    this.#room = Math.max(0, Math.min(fieldBytes, entryBytes - this.#entryBytes));
    this.#entryBytes += this.#nameBytes + fieldOverheadBytes;
    this.#place = chunk[at] === equals ? 'text' : 'length';
    this.#lengthRead = 0;
    return at + 1;
  }

  #readText(chunk: Buffer, at: number): number {
    const line = chunk.indexOf(newline, at);
    const end = line < 0 ? chunk.length : line;
    this.#cut(chunk, at, end);
    if (line < 0) return end;
    this.#place = 'name';
    this.#nameBytes = 0;
    return end + 1;
  }

  #readLength(chunk: Buffer, at: number): number {
    const count = Math.min(lengthBytes - this.#lengthRead, chunk.length - at);
    chunk.copy(this.#length, this.#lengthRead, at, at + count);
    this.#lengthRead += count;
    this.#leaveOut(chunk, at, at + count);
    if (this.#lengthRead < lengthBytes) return at + count;
    this.#dataLeft = Number(this.#length.readBigUInt64LE());
    this.#place = this.#dataLeft === 0 ? 'end of data' : 'data';
    if (this.#isLeftOut) return at + count;
    const kept = Buffer.alloc(lengthBytes);
    kept.writeBigUInt64LE(BigInt(Math.min(this.#dataLeft, this.#room)));
    this.#kept.push(kept);
    this.#stepBytes += lengthBytes;
    return at + count;
  }

  /** Keeps as much of a value as the field has room for. */
  #cut(chunk: Buffer, start: number, end: number): void {
    const kept = Math.min(this.#room, end - start);
    this.#room -= kept;
    this.#entryBytes += kept;
    if (kept < end - start) this.#leaveOut(chunk, start + kept, end);
  }
}
