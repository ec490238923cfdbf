/** Decodes bodies whose events are read one after another into slots. */
import { createSlicedDecoder, sliceBytes } from '../../codec/sliced-decoder.ts';
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { type EventBatch, EventWorkspace, tooManyBytes } from './event-batch.ts';

/** An opened body. */
export interface EventStream {
  readonly batch: EventBatch;
  /** Fills the slots with the next event and yields its bytes, which bound its row. */
  readonly events: Iterable<number>;
  /** Of all events together; absent = no limit. */
  readonly maxBytes?: number;
}

/** @throws AppError `malformed` */
export type OpenEvents<Input> = (
  input: Input,
  workspace: EventWorkspace,
  limits: DecodeLimits,
) => EventStream;

/** The decoder throws what `open` and the events throw: then nothing is stored. */
export function createEventsDecoder<Input>(
  open: OpenEvents<Input>,
): (input: Input, limits: DecodeLimits) => Batch | Promise<Batch> {
  const decodeInSlices = createSlicedDecoder(() => new EventWorkspace());
  return (input, limits) =>
    decodeInSlices(function* (workspace) {
      const { batch, events, maxBytes = Infinity } = open(input, workspace, limits);
      let bytes = 0;
      let sliceEnd = sliceBytes;
      for (const eventBytes of events) {
        bytes += eventBytes;
        if (bytes > maxBytes) throw tooManyBytes(maxBytes);
        batch.take(eventBytes);
        if (bytes < sliceEnd) continue;
        // Before the next event is read: bodies may share the buffer of slots.
        yield;
        sliceEnd = bytes + sliceBytes;
      }
      return batch.finish();
    });
}
