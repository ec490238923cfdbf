/** Collects lines by receiver, and stores what they add up to at an interval and at the end. */
import type { Protocol } from '../model/protocol.ts';
import { countRefused, deliver, type DeliveryParts } from './deliver.ts';

export interface Aggregate {
  /** @returns why the line is dropped, or undefined */
  add(line: string, nowMs: number): string | undefined;
  /** @returns bodies of the protocol, which may also be one behind the other */
  flush(nowMs: number): Buffer[];
}

export interface AggregatesOptions {
  readonly listener: string;
  readonly protocol: Protocol;
  readonly flushMs: number;
  readonly open: () => Aggregate;
}

export class Aggregates {
  readonly #options: AggregatesOptions;
  readonly #parts: DeliveryParts;
  readonly #byReceiver = new Map<string, Aggregate>();
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> | undefined;

  constructor(options: AggregatesOptions, parts: DeliveryParts) {
    this.#options = options;
    this.#parts = parts;
    this.#timer = setInterval(() => {
      // What is not stored yet is followed by the next sample of each series.
      this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
    }, options.flushMs);
  }

  add(receiverId: string, listener: string, line: string): void {
    const { open } = this.#options;
    const aggregate = this.#byReceiver.get(receiverId) ?? open();
    this.#byReceiver.set(receiverId, aggregate);
    const fault = aggregate.add(line, Date.now());
    if (fault !== undefined) this.#parts.events.dropped(listener, fault, 1);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const { listener, protocol } = this.#options;
    const nowMs = Date.now();
    for (const [receiverId, aggregate] of this.#byReceiver) {
      const bodies = aggregate.flush(nowMs);
      if (bodies.length === 0) continue;
      const delivery = {
        listener,
        protocol,
        binding: { receiverId },
        // Of many senders, whose addresses a sum does not have.
        peerAddress: '',
        waitsForQuota: false,
      };
      try {
        await deliver(this.#parts, delivery, bodies, Buffer.concat);
      } catch (error) {
        countRefused(this.#parts.events, listener, { error, messages: bodies.length });
      }
    }
  }
}
