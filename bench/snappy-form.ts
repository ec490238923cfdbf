/**
 * Compresses a message once with gaps that a sender can fill in the compressed bytes, so that it
 * need not compress again while it shares the machine with what it measures. Block format:
 * https://github.com/google/snappy/blob/main/format_description.txt.
 */

/** Bytes that change between requests. */
export interface Gap {
  readonly start: number;
  readonly length: number;
}

export interface SnappyForm {
  readonly bytes: Buffer;
  /** Offset of each gap in `bytes`. */
  readonly gaps: Uint32Array;
}

const hashBits = 15;
const minMatch = 4;
const maxMatch = 64;
const maxDistance = 0xffff;

/** @param gaps in ascending order. @returns the message compressed, its gaps as literals */
export function toSnappyForm(message: Buffer, gaps: readonly Gap[]): SnappyForm {
  const isOpen = new Uint8Array(message.length);
  for (const { start, length } of gaps) isOpen.fill(1, start, start + length);
  const lastSeen = new Int32Array(1 << hashBits).fill(-1);
  const out: number[] = [...varint(message.length)];
  const gapAt: number[] = [];
  let literalFrom = 0;

  function endLiteral(at: number): void {
    if (at === literalFrom) return;
    writeLiteralHead(out, at - literalFrom);
    const shift = out.length - literalFrom;
    for (let gap = gaps[gapAt.length]; gap !== undefined && gap.start < at; ) {
      gapAt.push(gap.start + shift);
      gap = gaps[gapAt.length];
    }
    for (let from = literalFrom; from < at; from += 1) out.push(message[from]!);
  }

  for (let at = 0; at + minMatch <= message.length; ) {
    const slot = Math.imul(message.readUInt32LE(at), 0x9e3779b1) >>> (32 - hashBits);
    const source = lastSeen[slot]!;
    lastSeen[slot] = at;
    const length = source < 0 || at - source > maxDistance ? 0 : matchLength(source, at);
    if (length < minMatch) {
      at += 1;
      continue;
    }
    endLiteral(at);
    out.push(((length - 1) << 2) | 2, (at - source) & 255, (at - source) >>> 8);
    at += length;
    literalFrom = at;
  }
  endLiteral(message.length);
  return { bytes: Buffer.from(out), gaps: Uint32Array.from(gapAt) };

  function matchLength(source: number, at: number): number {
    const most = Math.min(maxMatch, message.length - at);
    let length = 0;
    while (
      length < most &&
      message[source + length] === message[at + length] &&
      isOpen[source + length] === 0 &&
      isOpen[at + length] === 0
    ) {
      length += 1;
    }
    return length;
  }
}

function writeLiteralHead(out: number[], length: number): void {
  const rest = length - 1;
  if (rest < 60) out.push(rest << 2);
  else if (rest < 0x100) out.push(60 << 2, rest);
  else if (rest < 0x10000) out.push(61 << 2, rest & 255, rest >>> 8);
  else out.push(62 << 2, rest & 255, (rest >>> 8) & 255, rest >>> 16);
}

export function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}
