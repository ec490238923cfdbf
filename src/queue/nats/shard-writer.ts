/**
 * Appends batches to one shard. Small batches that arrive while messages are in flight share the
 * next message. After a failed publish, a circuit breaker refuses batches until the shard takes a
 * message again.
 */
import type { StampedBatch } from '../../model/batch.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../../std/circuit-breaker.ts';
import { freeMemory, ownMemory } from '../../std/free-memory.ts';
import { randomBase32 } from '../../std/random-id.ts';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import { encodeFrame, finishFrame, measureFrame } from '../frame.ts';
import type { NatsLink } from './connection.ts';
import { PublishFault, queueUnavailable, toPublishFault } from './faults.ts';
import { headers, messageKinds, toBatchName, toMessageBytes } from './messages.ts';
import { publish, publishFrames } from './publish.ts';

export interface Entry {
  /** Its time of receipt is set by the stream. */
  readonly batch: StampedBatch;
  /**
   * Set if other gateways may publish this batch too; it then does not share a message.
   * @returns Unix ms since when copies of it may have been stored; undefined = there are none
   */
  readonly copiesSinceMs?: () => number | undefined;
}

interface Waiting extends Entry {
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  readonly waiting: Waiting[];
  inFlight: number;
}

/**
 * In each lane. More than one, so that a slow acknowledgement does not delay the others; few,
 * because the shard's reader holds the pieces of large batches in memory.
 */
const maxInFlight = 4;
const probePauseMs = 250;
/** A shard that was full takes batches again below this share of max_bytes. */
const fullUntilShare = 0.95;

export class ShardWriter {
  readonly #link: NatsLink;
  readonly #telemetry: NatsEvents;
  readonly #stream: string;
  readonly #shard: number;
  readonly #circuit: CircuitBreaker;
  readonly #small: Lane = { waiting: [], inFlight: 0 };
  /** Batches that are larger than a message. */
  readonly #large: Lane = { waiting: [], inFlight: 0 };
  #pendingBytes = 0;
  #onIdle: (() => void) | undefined;
  #reason = '';

  constructor(link: NatsLink, shard: number, telemetry: NatsEvents) {
    this.#link = link;
    this.#telemetry = telemetry;
    this.#shard = shard;
    this.#stream = link.names.stream(shard);
    this.#circuit = createCircuitBreaker({
      what: 'the queue',
      pauseMs: probePauseMs,
      probe: () => this.#probe(),
    });
  }

  /** Bytes of unacknowledged batches. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** `pendingBytes`; infinite while batches are refused. */
  get load(): number {
    return this.#circuit.isOpen() ? Number.POSITIVE_INFINITY : this.#pendingBytes;
  }

  /** Why batches are refused; empty while they are taken. */
  get reason(): string {
    return this.#circuit.isOpen() ? this.#reason : '';
  }

  /**
   * Resolves once JetStream acknowledged it; frees the payload's memory as soon as it is encoded.
   * @throws AppError `unavailable`; the batch may be stored anyway
   */
  write(entry: Entry): Promise<void> {
    if (this.#circuit.isOpen()) return Promise.reject(queueUnavailable(this.#reason));
    const bytes = measureFrame(entry.batch);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { ...entry, bytes, resolve, reject };
    this.#pendingBytes += bytes;
    (bytes > this.#messageBytes() ? this.#large : this.#small).waiting.push(waiting);
    this.#sendNext();
    return promise;
  }

  /** Publishes an empty message, which advances the shard's time. */
  async tick(): Promise<void> {
    const { names, settings } = this.#link;
    const message = {
      subject: names.subject(this.#shard),
      stream: this.#stream,
      body: new Uint8Array(),
      id: randomBase32(26),
      headers: { [headers.kind]: messageKinds.tick },
    };
    await publish(this.#link, this.#telemetry, message, settings.timeoutMs);
  }

  /** Resolves once nothing is in flight. */
  idle(): Promise<void> {
    if (this.#pendingBytes === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  close(): void {
    this.#circuit.close();
  }

  #sendNext(): void {
    for (const lane of [this.#small, this.#large]) {
      while (lane.inFlight < maxInFlight && lane.waiting.length > 0) {
        lane.inFlight++;
        void this.#send(this.#nextGroup(lane.waiting)).finally(() => {
          lane.inFlight--;
          this.#sendNext();
        });
      }
    }
  }

  #nextGroup(waiting: Waiting[]): Waiting[] {
    const limit = this.#messageBytes();
    let bytes = 0;
    let count = 0;
    for (const each of waiting) {
      const isAlone = each.copiesSinceMs !== undefined;
      if (count > 0 && (isAlone || bytes + each.bytes > limit)) break;
      bytes += each.bytes;
      count++;
      if (isAlone) break;
    }
    return waiting.splice(0, count);
  }

  /** Settles the promise of each batch; never rejects. */
  async #send(group: readonly Waiting[]): Promise<void> {
    try {
      const { batch, copiesSinceMs } = group[0]!;
      const body = encodeGroup(group);
      const frames = { shard: this.#shard, body, id: toBatchName(batch.id), sentMs: Date.now() };
      const sent = { ...frames, copiesSinceMs: copiesSinceMs?.() };
      await publishFrames(this.#link, this.#telemetry, sent);
      // Not after a failure: the connection may still hold the bytes.
      freeMemory([ownMemory(body)]);
      for (const { resolve } of group) resolve();
    } catch (error) {
      const fault = toPublishFault(error);
      for (const { reject } of group) reject(queueUnavailable(fault));
      this.#fail(fault);
    }
    for (const { bytes } of group) this.#pendingBytes -= bytes;
    if (this.#pendingBytes === 0) this.#onIdle?.();
  }

  /** Refuses new batches, and those that wait: they were not sent. */
  #fail(fault: PublishFault): void {
    if (this.#circuit.isOpen()) return;
    this.#reason = `${this.#stream}: ${fault.message}`;
    this.#telemetry.shardFailed({ shard: this.#shard, kind: fault.kind, reason: fault.message });
    this.#circuit.trip(fault);
    for (const each of [...this.#small.waiting.splice(0), ...this.#large.waiting.splice(0)]) {
      this.#pendingBytes -= each.bytes;
      each.reject(queueUnavailable(fault));
    }
  }

  async #probe(): Promise<void> {
    await this.tick();
    const { config, state } = await this.#link.manager.streams.info(this.#stream);
    // A full shard takes a tick while it has no room for batches.
    if (config.max_bytes > 0 && state.bytes > config.max_bytes * fullUntilShare) {
      throw new PublishFault('full', 'it has reached its share of queue.maxBacklogBytes');
    }
    this.#telemetry.shardRecovered({ shard: this.#shard });
  }

  #messageBytes(): number {
    return toMessageBytes(this.#link.connection.info?.max_payload);
  }
}

function encodeGroup(group: readonly Waiting[]): Buffer {
  const bytes = group.reduce((sum, each) => sum + each.bytes, 0);
  const body = Buffer.allocUnsafeSlow(bytes);
  let offset = 0;
  for (const { batch } of group) {
    const end = encodeFrame(body, offset, batch);
    finishFrame(body, offset, 0);
    offset = end;
    freeMemory([ownMemory(batch.payload)]);
  }
  return body;
}
