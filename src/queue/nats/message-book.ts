/**
 * The messages of a shard that were delivered and are not certainly gone from the stream: keeps
 * them from being delivered again, acknowledges them, and knows when the server has taken that. An
 * acknowledgement goes by number, and a server that lost its end gives numbers out again: none is
 * sent but to the consumer that delivered the message, nor before it is known that the stream is
 * still the same. It knows nothing of what is in messages.
 */
import { createInbox, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import type { Delivery } from './delivery.ts';

const acknowledged = Buffer.from('+ACK');
const inProgress = Buffer.from('+WPI');
const resendAfterMs = 1000;

interface Entry {
  readonly sequence: number;
  readonly timeNanos: bigint;
  readonly bytes: number;
  /** Of the last delivery. */
  reply: string;
  consumer: number;
  /**
   * When it was last acknowledged, by the clock of the process; long ago where that is still to be
   * sent, undefined while it is needed.
   */
  sentMs: number | undefined;
  release: Release | undefined;
}

/** One call of `acknowledge`. */
interface Release {
  left: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Where a message lies in a stream, and when it came there. */
export type StreamPlace = Pick<Delivery, 'sequence' | 'timeNanos'>;

export type Recognised = 'new' | 'known' | 'other';

export class MessageBook {
  readonly #connection: NatsConnection;
  readonly #inbox: string;
  readonly #answers: Subscription;
  readonly #entries = new Map<number, Entry>();
  readonly #spent = new Set<Entry>();
  #bytes = 0;
  #last: StreamPlace = { sequence: 0, timeNanos: 0n };
  /** Which consumer delivers, and how far along the stream it has come. */
  #consumer = 0;
  #reached = 0;
  #isHeldBack = true;
  #isClosed = false;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    this.#inbox = createInbox();
    this.#answers = connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        // A status says that nobody listens there any more: a later consumer delivers it again.
        const isTaken = error === null && (message.headers?.code ?? 0) === 0;
        if (isTaken) this.#confirmed(Number(message.subject.slice(this.#inbox.length + 1)));
      },
    });
  }

  /** Of all messages that are still needed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many acknowledgements the server has not confirmed. */
  get unconfirmed(): number {
    return this.#spent.size;
  }

  /** Of the last message of the stream that was ever here; number 0 where there was none. */
  get last(): StreamPlace {
    return this.#last;
  }

  /** The first that is not done with; where there is none, the first that is still to come. */
  get lowest(): number {
    let lowest = this.#reached + 1;
    for (const sequence of this.#entries.keys()) lowest = Math.min(lowest, sequence);
    return lowest;
  }

  /** Sends nothing until `goOn`, as at first: the server may come back with another stream. */
  holdBack(): void {
    this.#isHeldBack = true;
  }

  /** To be called once it is known that the stream is the same as before. */
  goOn(): void {
    this.#isHeldBack = false;
    this.resend();
  }

  /** From now on another consumer delivers, from the first message left in the stream. */
  consumerOpened(): void {
    this.#consumer++;
    this.#reached = 0;
  }

  /**
   * To be told of each delivery first.
   * @returns `known` where it is here already, `other` where the stream has another message under
   *   its number.
   */
  recognise(delivery: Delivery): Recognised {
    const { sequence, timeNanos, reply } = delivery;
    this.#reached = Math.max(this.#reached, sequence);
    if (this.#spent.size > 0) this.#forgetGone();
    const entry = this.#entries.get(sequence);
    if (entry === undefined) return 'new';
    if (entry.timeNanos !== timeNanos) return 'other';
    entry.reply = reply;
    entry.consumer = this.#consumer;
    if (entry.sentMs !== undefined) this.#send(entry);
    return 'known';
  }

  /** @returns true where it came before and was done with then, or was lost on its way. */
  hold({ sequence, timeNanos, reply, data }: Delivery): boolean {
    const isLate = sequence <= this.#last.sequence;
    if (!isLate) this.#last = { sequence, timeNanos };
    this.#bytes += data.length;
    this.#entries.set(sequence, {
      sequence,
      timeNanos,
      reply,
      bytes: data.length,
      consumer: this.#consumer,
      sentMs: undefined,
      release: undefined,
    });
    return isLate;
  }

  /**
   * Resolves once the server has confirmed that it will never deliver these again. @throws Error
   * where the book was closed before.
   */
  acknowledge(sequences: readonly number[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      const release: Release = { left: 1, resolve, reject };
      for (const sequence of sequences) {
        const entry = this.#entries.get(sequence);
        if (entry === undefined) continue;
        release.left++;
        entry.release = release;
        this.#bytes -= entry.bytes;
        this.#spent.add(entry);
        this.#send(entry);
      }
      settle(release);
      this.#forgetGone();
    });
  }

  /** Tells the server that everything still needed is being worked on. */
  keep(): void {
    for (const entry of this.#entries.values()) {
      const isNeeded = entry.sentMs === undefined && this.#isOpen(entry);
      if (isNeeded) this.#connection.publish(entry.reply, inProgress);
    }
  }

  /** Acknowledges again what got no answer. */
  resend(): void {
    const longAgo = performance.now() - resendAfterMs;
    for (const entry of this.#spent) {
      if ((entry.sentMs ?? 0) < longAgo) this.#send(entry);
    }
  }

  /** What waits for a confirmation fails. */
  close(): void {
    this.#isClosed = true;
    this.#answers.unsubscribe();
    for (const { release } of this.#spent) release?.reject(closedError());
    this.#spent.clear();
  }

  #send(entry: Entry): void {
    entry.sentMs = Number.NEGATIVE_INFINITY;
    if (!this.#isOpen(entry)) return;
    entry.sentMs = performance.now();
    const reply = `${this.#inbox}.${entry.sequence}`;
    this.#connection.publish(entry.reply, acknowledged, { reply });
  }

  #isOpen(entry: Entry): boolean {
    return !this.#isHeldBack && entry.consumer === this.#consumer;
  }

  #confirmed(sequence: number): void {
    const entry = this.#entries.get(sequence);
    if (entry?.sentMs === undefined) return;
    this.#entries.delete(sequence);
    this.#spent.delete(entry);
    if (entry.release !== undefined) settle(entry.release);
  }

  /**
   * A consumer delivers in the order of the stream whatever is left there: what it has passed over
   * is gone, even where the answer to its acknowledgement was lost.
   */
  #forgetGone(): void {
    for (const entry of this.#spent) {
      const isGone = entry.consumer < this.#consumer && entry.sequence < this.#reached;
      if (isGone) this.#confirmed(entry.sequence);
    }
  }
}

function settle(release: Release): void {
  if (--release.left === 0) release.resolve();
}

function closedError(): Error {
  return new Error('cannot release: the shard is no longer held by this process');
}
