/**
 * Events to batches that are worth a request. The same events in the same order always become the
 * same batches, so that an import that is repeated repeats its requests.
 */

/** An event as it is sent, and where it came from. */
export interface OutgoingEvent {
  readonly json: string;
  /** Whether it has a time of its own; else it is stamped in the order in which it is received. */
  readonly isTimed: boolean;
  readonly line: number;
  /** Bytes of the source up to its end. */
  readonly endOffset: number;
}

export interface Batch {
  readonly events: readonly OutgoingEvent[];
  /** True where the order in which it is received is the order in which it reads back. */
  readonly isOrdered: boolean;
}

export interface BatchLimits {
  readonly maxEvents: number;
  /** Of the body; an event that is larger by itself is a batch of its own. */
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

  /** @returns the batch that is complete now, without the event if it did not fit any more. */
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

  /** @returns what has been added since the last batch. */
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

/** @param batch of two events at least. */
export function halve({ events }: Batch): [Batch, Batch] {
  const middle = Math.ceil(events.length / 2);
  return [toBatch(events.slice(0, middle)), toBatch(events.slice(middle))];
}

function toBatch(events: readonly OutgoingEvent[]): Batch {
  return { events, isOrdered: events.some(({ isTimed }) => !isTimed) };
}
