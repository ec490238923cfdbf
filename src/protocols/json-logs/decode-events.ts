/** Decodes bodies whose events are read one after another into slots. */
import { createSlicedDecoder, type Decoding, sliceBytes } from '../../codec/sliced-decoder.ts';
import type { Batch } from '../../model/batch.ts';
import type { DecodeLimits } from '../../model/protocol.ts';
import { type EventBatch, EventWorkspace } from './event-batch.ts';
import type { EventSlots } from './event-fields.ts';
import { findFault } from './event-row.ts';

/** An opened body. */
export interface EventStream {
  readonly batch: EventBatch;
  /** Fills the slots with the next event and yields its bytes, which bound its row. */
  readonly events: Iterator<number>;
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
    decodeInSlices(
      (workspace) => new EventsDecoding(open(input, workspace, limits), workspace.slots),
    );
}

class EventsDecoding implements Decoding {
  readonly #stream: EventStream;
  readonly #slots: EventSlots;

  constructor(stream: EventStream, slots: EventSlots) {
    this.#stream = stream;
    this.#slots = slots;
  }

  run(): boolean {
    const { batch, events } = this.#stream;
    for (let done = 0; done < sliceBytes; ) {
      const next: IteratorResult<number, unknown> = events.next();
      if (next.done === true) return true;
      done += next.value;
      batch.take(findFault(this.#slots), next.value);
    }
    return false;
  }

  finish(): Batch {
    return this.#stream.batch.finish();
  }
}
