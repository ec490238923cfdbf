/**
 * A shard's lease: taken and renewed by compare-and-set. By the holder's monotonic clock it expires
 * well before another writer may take it.
 */
import type { StreamInfo } from '@nats-io/jetstream';
import type { Bucket } from './bucket.ts';
import { decodeLease, encodeLease, type LeaseEntry, type LeaseValue } from './lease-board.ts';

export interface LeaseTerms {
  readonly leases: Pick<Bucket, 'get' | 'replace'>;
  readonly key: string;
  /** Id of this writer. */
  readonly me: string;
  readonly leaseMs: number;
}

/** What a lease entry records of its holder's work. */
export interface HolderState {
  readonly epoch: bigint;
  readonly watermarkNanos: bigint;
}

/** Share of the lease, from when the renewal was sent; the rest is for clock drift. */
const usablePart = 0.75;

export class Lease {
  /** The revision under which it was taken. */
  readonly takenRevision: number;
  readonly #terms: LeaseTerms;
  #revision: number;
  #validUntilMs: number;

  /**
   * @param entry last seen
   * @returns undefined if another writer took it. @throws AppError `unavailable`
   */
  static async take(terms: LeaseTerms, entry: LeaseEntry): Promise<Lease | undefined> {
    const sentMs = performance.now();
    const value = encodeLease({ ...entry.value, holder: terms.me });
    const revision = await terms.leases.replace(terms.key, value, entry.revision);
    return revision === undefined ? undefined : new Lease(terms, revision, sentMs);
  }

  constructor(terms: LeaseTerms, revision: number, sentMs: number) {
    this.#terms = terms;
    this.takenRevision = revision;
    this.#revision = revision;
    this.#validUntilMs = sentMs + terms.leaseMs * usablePart;
  }

  /** False once another writer may take the shard. */
  isValid(): boolean {
    return performance.now() < this.#validUntilMs;
  }

  /** Extends the lease, or ends it if another writer holds it. @throws AppError `unavailable` */
  async renew(state: HolderState): Promise<void> {
    const { leases, key, me, leaseMs } = this.#terms;
    const sentMs = performance.now();
    const value = toValue(me, state);
    const revision = await leases.replace(key, encodeLease(value), this.#revision);
    if (revision !== undefined) {
      this.#revision = revision;
      // An expired lease stays expired: its work is being closed.
      if (this.isValid()) this.#validUntilMs = sentMs + leaseMs * usablePart;
      return;
    }
    const entry = await leases.get(key);
    const found = entry && decodeLease(entry.value);
    // A renewal of this writer whose answer was lost.
    if (entry !== undefined && found?.holder === me && found.epoch === value.epoch) {
      this.#revision = entry.revision;
    } else this.#validUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Lets another writer take it at once. @throws AppError `unavailable` */
  async release(state: HolderState): Promise<void> {
    const { leases, key } = this.#terms;
    await leases.replace(key, encodeLease(toValue('', state)), this.#revision);
  }
}

function toValue(holder: string, { epoch, watermarkNanos }: HolderState): LeaseValue {
  return { holder, epoch: epoch.toString(), watermarkNanos: watermarkNanos.toString() };
}

const secondBits = 32n;

/**
 * The epoch of a new holder, unique and higher than all earlier ones: seconds by the clock of NATS,
 * then the revision. Revisions alone start over in a bucket that was created again or restored.
 * @param earlier known epochs of the shard
 * @param bucket of the leases
 * @param revision under which the lease was taken
 */
export function toEpoch(
  earlier: readonly bigint[],
  { created, state }: { created: string; state: Pick<StreamInfo['state'], 'last_ts'> },
  revision: number,
): bigint {
  const highest = earlier.reduce((a, b) => (a > b ? a : b), 0n);
  const newestMs = Math.max(Date.parse(created), Date.parse(state.last_ts));
  const epoch = (BigInt(Math.floor(newestMs / 1000)) << secondBits) + BigInt(revision);
  if (epoch > highest) return epoch;
  const highestSeconds = highest >> secondBits;
  const sameSecond = (highestSeconds << secondBits) + BigInt(revision);
  return sameSecond > highest ? sameSecond : sameSecond + (1n << secondBits);
}
