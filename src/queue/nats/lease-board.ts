/**
 * Who holds which shard, as one writer sees it: entries of the leases' bucket, and how long each
 * has not changed by the writer's own clock. No clocks of different machines are compared. Pure.
 */

/** What stands in the bucket under a shard's key, as JSON. */
export interface LeaseValue {
  /** Id of the writer; empty = let go of. */
  readonly holder: string;
  /** Decimal epoch of the last holder; of the one before in the entry that takes the lease. */
  readonly epoch: string;
  /** Decimal Unix ns: how far it told the shard to be stored. */
  readonly watermarkNanos: string;
}

export interface LeaseEntry {
  readonly revision: number;
  readonly value: LeaseValue;
}

interface Seen<Entry> {
  readonly entry: Entry;
  /** By the own monotonic clock, not before it was written. */
  readonly changedMs: number;
}

/** Of a shard that nobody ever held. */
const untouched: LeaseEntry = {
  revision: 0,
  value: { holder: '', epoch: '0', watermarkNanos: '0' },
};

export class LeaseBoard {
  readonly #me: string;
  readonly #leaseMs: number;
  readonly #shards: (Seen<LeaseEntry> | undefined)[];
  readonly #writers = new Map<string, Seen<{ readonly revision: number }>>();

  /** @param me id of this writer */
  constructor(me: string, shards: number, leaseMs: number) {
    this.#me = me;
    this.#leaseMs = leaseMs;
    this.#shards = Array.from({ length: shards }, () => undefined);
  }

  seeShard(shard: number, entry: LeaseEntry = untouched, nowMs: number): void {
    const known = this.#shards[shard];
    if (known?.entry.revision === entry.revision) return;
    this.#shards[shard] = { entry, changedMs: nowMs };
  }

  seeWriter(id: string, revision: number | undefined, nowMs: number): void {
    if (revision === undefined) this.#writers.delete(id);
    else if (this.#writers.get(id)?.entry.revision !== revision) {
      this.#writers.set(id, { entry: { revision }, changedMs: nowMs });
    }
  }

  /** The entry last seen. */
  shard(shard: number): LeaseEntry {
    return this.#shards[shard]?.entry ?? untouched;
  }

  /** Whether this writer, which does not hold it, may try to take a shard. */
  isFree(shard: number, nowMs: number): boolean {
    const seen = this.#shards[shard];
    // Not looked at yet.
    if (seen === undefined) return false;
    const { holder } = seen.entry.value;
    // Our own without work: an answer was lost, or it was not renewed in time.
    return holder === '' || holder === this.#me || nowMs - seen.changedMs >= this.#leaseMs;
  }

  /**
   * How many shards are this writer's part: all parts together are all shards, none is larger than
   * another by more than one.
   */
  share(nowMs: number): number {
    const ids = [this.#me];
    for (const [id, { changedMs }] of this.#writers) {
      if (id !== this.#me && nowMs - changedMs < this.#leaseMs) ids.push(id);
    }
    const rank = ids.sort().indexOf(this.#me);
    const shards = this.#shards.length;
    return Math.floor(shards / ids.length) + (rank < shards % ids.length ? 1 : 0);
  }

  /** Writers that have not been heard of for so long that they are not coming back. */
  forgottenWriters(nowMs: number): string[] {
    const gone = [...this.#writers].filter(([, { changedMs }]) => {
      return nowMs - changedMs >= 5 * this.#leaseMs;
    });
    return gone.map(([id]) => id).filter((id) => id !== this.#me);
  }
}

/** What is none of ours nobody holds. */
export function decodeLease(bytes: Uint8Array): LeaseValue {
  try {
    const found = JSON.parse(Buffer.from(bytes).toString()) as Partial<LeaseValue>;
    const { holder, epoch, watermarkNanos } = found;
    const isWhole = typeof holder === 'string' && typeof epoch === 'string';
    if (
      isWhole &&
      typeof watermarkNanos === 'string' &&
      /^\d+ \d+$/.test(`${epoch} ${watermarkNanos}`)
    ) {
      return { holder, epoch, watermarkNanos };
    }
  } catch {
    // No JSON: none of ours.
  }
  return untouched.value;
}

export function encodeLease(value: LeaseValue): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
