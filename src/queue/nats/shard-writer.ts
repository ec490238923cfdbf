/**
 * A gateway's way into one shard: what arrives while several messages are under way goes into the
 * next one together, what is too large for one goes in pieces. A shard that does not take messages
 * is refused at once until it does.
 */
import type { StampedBatch } from '../../model/batch.ts';
import { type Circuit, createCircuit } from '../../std/circuit.ts';
import { freeMemory, ownMemory } from '../../std/free-memory.ts';
import { randomBase32 } from '../../std/random-id.ts';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import { encodeFrame, finishFrame, measureFrame } from '../frame.ts';
import type { NatsLink } from './connection.ts';
import { headers, messageKinds, toBatchName, toMessageBytes } from './names.ts';
import { type Message, publish } from './publish.ts';
import { PublishFault, queueUnavailable, toPublishFault } from './publish-fault.ts';
import { upload } from './upload.ts';

/** What is to be published, and what is known of it. */
export interface Entry {
  /** Its time of receipt is the stream's to tell. */
  readonly batch: StampedBatch;
  /**
   * Set where others may publish this batch too, which then is a message of its own.
   * @returns Unix ms since when copies of it may have been stored; undefined = none can.
   */
  readonly copiesSinceMs?: () => number | undefined;
}

interface Waiting extends Entry {
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Enough that one slow acknowledgement does not stop the others. */
const maxMessagesUnderWay = 4;
/** Writers hold the pieces of all of them in memory. */
const maxUploadsUnderWay = 4;
const probePauseMs = 250;
/** A shard that was full takes batches again below this share of its room. */
const fullUntilShare = 0.95;

export class ShardWriter {
  readonly #link: NatsLink;
  readonly #telemetry: NatsEvents;
  readonly #target: Pick<Message, 'subject' | 'stream'>;
  readonly #shard: number;
  readonly #circuit: Circuit;
  readonly #small: Waiting[] = [];
  readonly #large: Waiting[] = [];
  #smallUnderWay = 0;
  #largeUnderWay = 0;
  #pendingBytes = 0;
  #onIdle: (() => void) | undefined;
  #reason = '';

  constructor(link: NatsLink, shard: number, telemetry: NatsEvents) {
    this.#link = link;
    this.#telemetry = telemetry;
    this.#shard = shard;
    this.#target = { subject: link.names.subject(shard), stream: link.names.stream(shard) };
    this.#circuit = createCircuit({
      what: 'the queue',
      pauseMs: probePauseMs,
      ask: () => this.#probe(),
    });
  }

  /** Of what is not acknowledged yet. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** The same, for a choice between shards; infinite while batches are refused. */
  get load(): number {
    return this.#circuit.isTripped() ? Number.POSITIVE_INFINITY : this.#pendingBytes;
  }

  /** Why batches are refused, for the operator; empty while they are taken. */
  get reason(): string {
    return this.#circuit.isTripped() ? this.#reason : '';
  }

  /**
   * Resolves once JetStream has it; the payload's memory is freed as soon as it is encoded.
   * @throws AppError `unavailable`; the batch may be stored all the same
   */
  write(entry: Entry): Promise<void> {
    if (this.#circuit.isTripped()) return Promise.reject(queueUnavailable(this.#reason));
    const bytes = measureFrame(entry.batch);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { ...entry, bytes, resolve, reject };
    this.#pendingBytes += bytes;
    (bytes > this.#messageBytes() ? this.#large : this.#small).push(waiting);
    this.#sendNext();
    return promise;
  }

  /** Publishes an empty message, after which the shard's time is later than before. */
  async tick(): Promise<void> {
    const { timeoutMs } = this.#link.options;
    const message = {
      ...this.#target,
      body: new Uint8Array(),
      id: randomBase32(26),
      headers: { [headers.kind]: messageKinds.tick },
    };
    await publish(this.#link, this.#telemetry, message, timeoutMs);
  }

  /** Resolves once nothing is under way. */
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
    while (this.#smallUnderWay < maxMessagesUnderWay && this.#small.length > 0) {
      this.#smallUnderWay++;
      void this.#send(this.#nextGroup()).finally(() => {
        this.#smallUnderWay--;
        this.#sendNext();
      });
    }
    while (this.#largeUnderWay < maxUploadsUnderWay && this.#large.length > 0) {
      this.#largeUnderWay++;
      void this.#send([this.#large.shift()!]).finally(() => {
        this.#largeUnderWay--;
        this.#sendNext();
      });
    }
  }

  #nextGroup(): Waiting[] {
    const limit = this.#messageBytes();
    let bytes = 0;
    let count = 0;
    for (const each of this.#small) {
      const isAlone = each.copiesSinceMs !== undefined;
      if (count > 0 && (isAlone || bytes + each.bytes > limit)) break;
      bytes += each.bytes;
      count++;
      if (isAlone) break;
    }
    return this.#small.splice(0, count);
  }

  /** Never rejects: each of the group learns what became of it. */
  async #send(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#publishGroup(group);
      for (const { resolve } of group) resolve();
    } catch (error) {
      const fault = toPublishFault(error);
      for (const { reject } of group) reject(queueUnavailable(fault));
      this.#fail(fault);
    }
    for (const { bytes } of group) this.#pendingBytes -= bytes;
    if (this.#pendingBytes === 0) this.#onIdle?.();
  }

  async #publishGroup(group: readonly Waiting[]): Promise<void> {
    const body = encodeGroup(group);
    const id = toBatchName(group[0]!.batch.id);
    const sentMs = Date.now();
    const copiesSinceMs = group[0]!.copiesSinceMs?.();
    const limit = this.#messageBytes();
    if (body.length > limit) {
      const target = { ...this.#target, pieceBytes: limit };
      await upload(this.#link, this.#telemetry, target, { frame: body, id, sentMs, copiesSinceMs });
    } else {
      const kind = { [headers.kind]: messageKinds.frames };
      const message = { ...this.#target, body, id, sentMs, copiesSinceMs, headers: kind };
      await publish(this.#link, this.#telemetry, message, this.#link.options.timeoutMs);
    }
    // Only now: what was not acknowledged may still lie in the connection.
    freeMemory([ownMemory(body)]);
  }

  /** From now on batches are refused at once, those that wait included: none of them was sent. */
  #fail(fault: PublishFault): void {
    if (this.#circuit.isTripped()) return;
    this.#reason = `${this.#target.stream}: ${fault.message}`;
    this.#telemetry.shardFailed({ shard: this.#shard, kind: fault.kind, reason: fault.message });
    this.#circuit.trip(fault);
    for (const each of [...this.#small.splice(0), ...this.#large.splice(0)]) {
      this.#pendingBytes -= each.bytes;
      each.reject(queueUnavailable(fault));
    }
  }

  async #probe(): Promise<void> {
    await this.tick();
    const { config, state } = await this.#link.manager.streams.info(this.#target.stream);
    // A full shard takes a tick as soon as there are a few bytes: that is no room yet.
    if (config.max_bytes > 0 && state.bytes > config.max_bytes * fullUntilShare) {
      throw new PublishFault('full', 'it holds as much as queue.maxBacklogBytes grants it');
    }
    this.#telemetry.shardWorksAgain({ shard: this.#shard });
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
