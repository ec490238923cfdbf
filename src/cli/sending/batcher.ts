/**
 * Events to batches, one per request. The same events become the same batches, so that a repeated
 * import repeats its requests and their idempotency keys.
 */
import type { Place } from './tally.ts';

/** An event and its place in the source. */
export interface OutgoingEvent extends Place {
  readonly json: string;
  /** Untimed events get the time of their receipt. */
  readonly isTimed: boolean;
  /** Bytes of the source up to the end of the event. */
  readonly endOffset: number;
}

export interface Batch {
  readonly events: readonly OutgoingEvent[];
  /** True where the order of receipt decides the order of reading. */
  readonly isOrdered: boolean;
}

export interface BatchLimits {
  readonly maxEvents: number;
  /** Of the body; a larger event is sent alone. */
  readonly maxBytes: number;
}

export class Batcher {
  readonly #limits: BatchLimits;
  #events: OutgoingEvent[] = [];
  #bytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#events.length;
  }

  /** @returns the batch before the event, if that is full. */
  add(event: OutgoingEvent): Batch | undefined {
    const bytes = Buffer.byteLength(event.json) + 1;
    const isFull =
      this.#events.length >= this.#limits.maxEvents ||
      (this.#events.length > 0 && this.#bytes + bytes > this.#limits.maxBytes);
    const full = isFull ? this.take() : undefined;
    this.#events.push(event);
    this.#bytes += bytes;
    return full;
  }

  /** @returns the events since the last batch. */
  take(): Batch | undefined {
    if (this.#events.length === 0) return undefined;
    const batch = toBatch(this.#events);
    this.#events = [];
    this.#bytes = 0;
    return batch;
  }
}

/** The body of a request. */
export function toBody({ events }: Batch): Buffer {
  return Buffer.from(`[${events.map(({ json }) => json).join(',')}]`);
}

/** @param batch of at least two events. */
export function halve({ events }: Batch): [Batch, Batch] {
  const middle = Math.ceil(events.length / 2);
  return [toBatch(events.slice(0, middle)), toBatch(events.slice(middle))];
}

export function toBatch(events: readonly OutgoingEvent[]): Batch {
  return { events, isOrdered: events.some(({ isTimed }) => !isTimed) };
}
