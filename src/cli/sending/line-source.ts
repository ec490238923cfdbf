/** Bytes to the events of their lines, with counts of what is no event. */
import { isUtf8 } from 'node:buffer';
import type { OutgoingEvent } from './batcher.ts';
import type { LineReading } from './event-line.ts';
import { type Line, LineSplitter } from './line-splitter.ts';
import type { EventSource } from './pump.ts';
import type { Tally } from './tally.ts';

export interface LineSourceParts {
  /** Undefined for a line that is none. */
  readonly read: (text: string) => LineReading | undefined;
  readonly tally: Tally;
  /** Lines that end within so many bytes were sent before; default 0. */
  readonly settledOffset?: number;
}

export const tooLong: LineReading = {
  kind: 'fault',
  reason: 'cannot take more than 16 MiB in one line',
};

export function createLineSource({ read, tally, settledOffset = 0 }: LineSourceParts): EventSource {
  const splitter = new LineSplitter();

  function* toEvents(lines: readonly Line[]): Iterable<OutgoingEvent> {
    for (const { bytes, number, endOffset } of lines) {
      if (endOffset <= settledOffset) continue;
      const reading = bytes === undefined ? tooLong : read(toText(bytes, tally));
      const event = countReading(reading, { line: number, endOffset }, tally);
      if (event !== undefined) yield event;
    }
  }

  return {
    push: (chunk) => toEvents(splitter.push(chunk)),
    end: () => toEvents(splitter.end()),
  };
}

/** @returns the event, where the reading is one. */
export function countReading(
  reading: LineReading | undefined,
  place: { readonly line: number; readonly endOffset: number },
  tally: Tally,
): OutgoingEvent | undefined {
  if (reading === undefined) {
    tally.blank += 1;
    return undefined;
  }
  tally.read += 1;
  if (reading.kind === 'event') {
    return { json: reading.json, isTimed: reading.isTimed, ...place };
  }
  tally.reject(place.line, reading.reason);
  return undefined;
}

/** What is no UTF-8 is mended, and counted. */
export function toText(bytes: Buffer, tally: Tally): string {
  if (!isUtf8(bytes)) tally.repaired += 1;
  return bytes.toString();
}
