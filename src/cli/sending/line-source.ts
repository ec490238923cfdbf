/** Bytes to the events of their lines, with counts of what is no event. */
import { isUtf8 } from 'node:buffer';
import type { OutgoingEvent } from './batcher.ts';
import type { LineReading } from './event-line.ts';
import { type Line, LineSplitter, type LineStart } from './line-splitter.ts';
import type { EventSource } from './pump.ts';
import type { Tally } from './tally.ts';

export interface LineSourceParts {
  /** Undefined for a line that is none. */
  readonly read: (text: string) => LineReading | undefined;
  readonly tally: Tally;
  readonly start?: LineStart;
}

export function createLineSource({ read, tally, start }: LineSourceParts): EventSource {
  const splitter = new LineSplitter(start);

  function* toEvents(lines: readonly Line[]): Iterable<OutgoingEvent> {
    for (const { bytes, number, endOffset } of lines) {
      const reading = bytes === undefined ? tooLong : read(toText(bytes, tally));
      if (reading === undefined) {
        tally.blank += 1;
        continue;
      }
      tally.read += 1;
      if (reading.kind === 'fault') tally.reject(number, reading.reason);
      else yield { json: reading.json, isTimed: reading.isTimed, line: number, endOffset };
    }
  }

  return {
    push: (chunk) => toEvents(splitter.push(chunk)),
    end: () => toEvents(splitter.end()),
  };
}

const tooLong: LineReading = { kind: 'fault', reason: 'the line is longer than 16 MiB' };

function toText(bytes: Buffer, tally: Tally): string {
  if (!isUtf8(bytes)) tally.repaired += 1;
  return bytes.toString();
}
