/**
 * A KV bucket of JetStream (ADR-8 of NATS), read at its leader and changed by compare-and-set. The
 * client's own would wait for what is away; here that is known at once.
 */
import { JetStreamApiError } from '@nats-io/jetstream';
import { type Circuit, createCircuit } from '../../std/circuit.ts';
import { randomBase32 } from '../../std/random-id.ts';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { errorCodes } from './error-codes.ts';
import { orLost, publish } from './publish.ts';
import { PublishFault, queueUnavailable, toPublishFault } from './publish-fault.ts';

export interface BucketEntry {
  readonly value: Buffer;
  /** Of this version of the entry. */
  readonly revision: number;
  /** Unix ms by the clock of NATS. */
  readonly writtenAtMs: number;
}

/** All throw AppError `unavailable`. */
export interface Bucket {
  get(key: string): Promise<BucketEntry | undefined>;
  /**
   * Writes unless the entry is another one than that with `revision` (0 = there is none).
   * @returns the new revision; undefined where somebody else was faster
   */
  replace(key: string, value: Uint8Array, revision: number): Promise<number | undefined>;
  put(key: string, value: Uint8Array): Promise<number>;
  subject(key: string): string;
  close(): void;
}

const probePauseMs = 250;

export function openBucket(link: NatsLink, name: string, telemetry: NatsEvents): Bucket {
  const stream = `KV_${name}`;
  const subject = (key: string) => `$KV.${name}.${key}`;

  const read = async (key: string): Promise<BucketEntry | undefined> => {
    const present = link.present();
    if (present.aborted) throw new PublishFault('disconnected', 'not connected to NATS');
    const query = { last_by_subj: subject(key) };
    const stored = await orLost(link.manager.streams.getMessage(stream, query), present);
    if (stored === null) return undefined;
    const { data, seq, time } = stored;
    const value = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    return { value, revision: seq, writtenAtMs: time.getTime() };
  };

  const circuit: Circuit = createCircuit({
    what: 'the queue',
    pauseMs: probePauseMs,
    ask: () => read('probe'),
  });

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    circuit.check();
    try {
      return await work();
    } catch (error) {
      const fault = toPublishFault(error);
      circuit.trip(fault);
      throw queueUnavailable(fault);
    }
  }

  async function write(
    key: string,
    body: Uint8Array,
    condition: { afterSequence?: number },
  ): Promise<number> {
    const id = randomBase32(26);
    const message = { stream, subject: subject(key), body, id, ...condition };
    return (await publish(link, telemetry, message, link.options.timeoutMs)).seq;
  }

  return {
    subject,
    get: (key) => guarded(() => read(key)),
    put: (key, value) => guarded(() => write(key, value, {})),
    replace: (key, value, revision) =>
      guarded(async () => {
        try {
          return await write(key, value, { afterSequence: revision });
        } catch (error) {
          if (isConflict(error)) return undefined;
          throw error;
        }
      }),
    close: () => circuit.close(),
  };
}

function isConflict(error: unknown): boolean {
  const cause = error instanceof PublishFault ? error.cause : error;
  if (!(cause instanceof JetStreamApiError)) return false;
  return (
    cause.code === errorCodes.wrongLastSequence ||
    cause.code === errorCodes.wrongLastSequenceConstant
  );
}
