/**
 * A KV bucket, read at its leader and changed by compare-and-set. While NATS is unreachable, a
 * circuit breaker refuses calls at once.
 */
import { Kvm } from '@nats-io/kv';
import { createCircuitBreaker } from '../../std/circuit-breaker.ts';
import type { NatsEvents } from '../../telemetry/queue-events.ts';
import type { NatsLink } from './connection.ts';
import { errorCodes, hasCode, queueUnavailable, toPublishFault } from './faults.ts';
import { toMessageBytes } from './messages.ts';
import { retry, whileConnected } from './publish.ts';

export interface BucketEntry {
  readonly value: Buffer;
  readonly revision: number;
  /** Unix ms by the clock of NATS. */
  readonly writtenAtMs: number;
}

/** All throw AppError `unavailable`. */
export interface Bucket {
  get(key: string): Promise<BucketEntry | undefined>;
  /**
   * Writes if the entry still has this revision (0 = there is none).
   * @returns the new revision; undefined if the entry has another one, which may be that of an
   *   attempt of this call whose response was lost
   */
  replace(key: string, value: Uint8Array, revision: number): Promise<number | undefined>;
  put(key: string, value: Uint8Array): Promise<number>;
  subject(key: string): string;
  /** Of the server that is connected now. */
  maxValueBytes(): number;
  close(): void;
}

const probePauseMs = 250;
const { wrongLastSequence, wrongLastSequenceConstant } = errorCodes;

export async function openBucket(
  link: NatsLink,
  name: string,
  telemetry: NatsEvents,
): Promise<Bucket> {
  const kv = await new Kvm(link.js).open(name, { allow_direct: false });

  const read = async (key: string): Promise<BucketEntry | undefined> => {
    const entry = await whileConnected(link.lost(), () => kv.get(key));
    if (entry === null) return undefined;
    const { value, revision, created } = entry;
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return { value: bytes, revision, writtenAtMs: created.getTime() };
  };

  const write = (key: string, value: Uint8Array, condition: { previousSeq?: number }) =>
    retry(link, telemetry, link.settings.timeoutMs, {
      attempt: (timeout) =>
        whileConnected(link.lost(), () => kv.put(key, value, { ...condition, timeout })),
    });

  const circuit = createCircuitBreaker({
    what: 'the queue',
    pauseMs: probePauseMs,
    probe: () => read('probe'),
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

  return {
    subject: (key) => `$KV.${name}.${key}`,
    maxValueBytes: () => toMessageBytes(link.connection.info?.max_payload),
    get: (key) => guarded(() => read(key)),
    put: (key, value) => guarded(() => write(key, value, {})),
    replace: (key, value, revision) =>
      guarded(async () => {
        try {
          return await write(key, value, { previousSeq: revision });
        } catch (error) {
          const { cause } = toPublishFault(error);
          if (hasCode(cause, wrongLastSequence, wrongLastSequenceConstant)) return undefined;
          throw error;
        }
      }),
    close: () => circuit.close(),
  };
}
