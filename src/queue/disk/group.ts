/** A group of frames that lie back to back and are written in one go. */
import { decodeFrameHeader, finishFrame, idempotencyOf } from '../frame.ts';
import type { KeyCollector } from './key-chunk.ts';
import type { Segment } from './segment-file.ts';

/** Fills in the checksums. @returns the segment as it is with the group */
export function finishGroup(group: Buffer, segment: Segment): Segment {
  let { lastSequence, lastReceivedAtNanos, batches, rows } = segment;
  for (let offset = 0; offset < group.length; ) {
    finishFrame(group, offset, segment.end);
    const header = decodeFrameHeader(group, offset);
    lastSequence = header.sequence;
    lastReceivedAtNanos = header.receivedAtNanos;
    rows += header.rows;
    batches++;
    offset += header.length;
  }
  const end = segment.end + group.length;
  const grown = { lastSequence, lastReceivedAtNanos, batches, rows, end, tornFrom: end };
  return { ...segment, ...grown, fileBytes: end };
}

export function collectKeys(group: Buffer, keys: KeyCollector): void {
  for (let offset = 0; offset < group.length; ) {
    const header = decodeFrameHeader(group, offset);
    const record = idempotencyOf(group, offset, header);
    if (record.length > 0) keys.add(header.receivedAtNanos, record);
    offset += header.length;
  }
}
