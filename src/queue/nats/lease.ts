/**
 * One shard's lease while this writer holds it: renewed by compare-and-set, and over by the
 * writer's own monotonic clock well before anybody else may take it.
 */
import type { Bucket } from './bucket.ts';
import { decodeLease, encodeLease, type LeaseEntry, type LeaseValue } from './lease-board.ts';

export interface LeaseTerms {
  readonly leases: Pick<Bucket, 'get' | 'replace'>;
  readonly key: string;
  /** Id of this writer. */
  readonly me: string;
  readonly leaseMs: number;
}

/** What a lease entry records about its holder. */
export interface Told {
  readonly epoch: bigint;
  readonly watermarkNanos: bigint;
}

/** Of the lease, counted from when the renewal was sent; what remains is for late clocks. */
const usablePart = 0.75;

export class Lease {
  /** The revision under which it was taken. */
  readonly takenRevision: number;
  readonly #terms: LeaseTerms;
  #revision: number;
  #validUntilMs: number;

  /**
   * @param entry what was last seen of it
   * @returns undefined where somebody else was faster. @throws AppError `unavailable`
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

  /** False from when another writer may come to hold the shard. */
  isValid(): boolean {
    return performance.now() < this.#validUntilMs;
  }

  /**
   * Holds it for longer, from now on. Where it is another's, it is over.
   * @throws AppError `unavailable`
   */
  async renew(told: Told): Promise<void> {
    const { leases, key, me, leaseMs } = this.#terms;
    const sentMs = performance.now();
    const value = toValue(me, told);
    const revision = await leases.replace(key, encodeLease(value), this.#revision);
    if (revision !== undefined) {
      this.#revision = revision;
      // Once it is over it stays so: the work is being closed.
      if (this.isValid()) this.#validUntilMs = sentMs + leaseMs * usablePart;
      return;
    }
    const entry = await leases.get(key);
    const found = entry && decodeLease(entry.value);
    // A renewal of ours whose answer was lost; the next one goes on from it.
    if (entry !== undefined && found?.holder === me && found.epoch === value.epoch) {
      this.#revision = entry.revision;
    } else this.#validUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Lets go of it, so that another may take it at once. @throws AppError `unavailable` */
  async release(told: Told): Promise<void> {
    const { leases, key } = this.#terms;
    await leases.replace(key, encodeLease(toValue('', told)), this.#revision);
  }
}

function toValue(holder: string, { epoch, watermarkNanos }: Told): LeaseValue {
  return { holder, epoch: epoch.toString(), watermarkNanos: watermarkNanos.toString() };
}
