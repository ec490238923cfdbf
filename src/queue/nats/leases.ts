/**
 * Leases of shards: entries in a bucket, taken and renewed by compare-and-set. A lease expires for
 * its holder by the monotonic clock, well before another writer may take it: one that has not seen
 * it change for a whole lease. Clocks of machines are never compared.
 */
import type { StreamInfo } from '@nats-io/jetstream';
import { larger } from '../../std/big-integers.ts';
import type { Bucket } from './bucket.ts';
import type { NatsLink } from './connection.ts';
import { whileConnected } from './publish.ts';

/** The entry of a shard, as JSON. */
export interface LeaseValue {
  /** Id of the writer; empty = released. */
  readonly holder: string;
  /** Decimal epoch of the last holder; of the one before in the entry that takes the lease. */
  readonly epoch: string;
  /** Decimal Unix ns: watermark of the shard. */
  readonly watermarkNanos: string;
}

export interface LeaseEntry {
  readonly revision: number;
  readonly value: LeaseValue;
}

interface Seen<Entry> {
  readonly entry: Entry;
  /** By the monotonic clock, not before it was written. */
  readonly changedMs: number;
}

/** The entry of a shard that never had a holder. */
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

  /** Whether this writer, which does not hold the shard, may try to take it. */
  isFree(shard: number, nowMs: number): boolean {
    const seen = this.#shards[shard];
    if (seen === undefined) return false;
    const { holder } = seen.entry.value;
    // A lease of this writer without work: a response was lost, or its reader ended.
    return holder === '' || holder === this.#me || nowMs - seen.changedMs >= this.#leaseMs;
  }

  /**
   * How many shards this writer should hold: the shares of all writers add up to all shards and
   * differ by one at most.
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

  /** Writers that have been silent for so long that their entries can be removed. */
  forgottenWriters(nowMs: number): string[] {
    const forgotten = [...this.#writers].filter(([, { changedMs }]) => {
      return nowMs - changedMs >= 5 * this.#leaseMs;
    });
    return forgotten.map(([id]) => id).filter((id) => id !== this.#me);
  }
}

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
    // A renewal of this writer whose response was lost.
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
  const highest = earlier.reduce((a, b) => larger(a, b), 0n);
  const newestMs = Math.max(Date.parse(created), Date.parse(state.last_ts));
  const epoch = (BigInt(Math.floor(newestMs / 1000)) << secondBits) + BigInt(revision);
  if (epoch > highest) return epoch;
  const highestSeconds = highest >> secondBits;
  const sameSecond = (highestSeconds << secondBits) + BigInt(revision);
  return sameSecond > highest ? sameSecond : sameSecond + (1n << secondBits);
}

/** The entry of a writer. */
export const presence = { here: 'here', left: 'left' } as const;

export type LeaseWatch = ReturnType<typeof watchLeases>;

/**
 * Keeps a board up to date: reads each entry as soon as it is written. `refresh` reads all
 * entries (throws AppError `unavailable`) and covers lost messages.
 * @param me id of this writer, whose own entries are skipped
 * @param changed called after an entry was read
 */
export function watchLeases(
  { link, leases }: { readonly link: NatsLink; readonly leases: Pick<Bucket, 'get' | 'subject'> },
  board: LeaseBoard,
  me: string,
  changed: () => void,
) {
  const { connection, manager, names, settings } = link;
  const stream = `KV_${names.leases}`;
  const prefix = leases.subject('');
  let isReady = false;

  // Core subscribers receive what is written into a bucket.
  const subscription = connection.subscribe(leases.subject('>'), {
    callback(error, message) {
      if (error !== null) return;
      const key = message.subject.slice(prefix.length);
      const isOwn = key === `writer.${me}` || decodeLease(message.data).holder === me;
      // The server may have rejected the write: only a read counts.
      if (!isOwn) void readEntry(key).then(changed, () => undefined);
    },
  });

  async function readEntry(key: string): Promise<void> {
    const [kind, name = ''] = key.split('.');
    const entry = await leases.get(key);
    // After the read, since the time without a change is counted from here.
    const nowMs = performance.now();
    if (kind === 'writer') {
      const hasLeft = entry?.value.toString() === presence.left;
      board.seeWriter(name, hasLeft ? undefined : entry?.revision, nowMs);
    } else if (kind === 'shard') {
      const found = entry && { revision: entry.revision, value: decodeLease(entry.value) };
      board.seeShard(Number(name), found, nowMs);
    }
  }

  async function refresh(): Promise<void> {
    const filter = leases.subject('writer.*');
    const lost = link.lost();
    const options = { subjects_filter: filter };
    const info = await whileConnected(lost, () => manager.streams.info(stream, options));
    const writers = Object.keys(info.state.subjects ?? {}).map((it) => it.slice(prefix.length));
    const shards = Array.from({ length: settings.shards }, (_, shard) => `shard.${shard}`);
    const keys = [...shards, ...writers.filter((key) => key !== `writer.${me}`)];
    await Promise.all(keys.map(readEntry));
    for (const id of board.forgottenWriters(performance.now())) {
      const subject = leases.subject(`writer.${id}`);
      await whileConnected(lost, () => manager.streams.purge(stream, { filter: subject }));
      board.seeWriter(id, undefined, performance.now());
    }
    isReady = true;
  }

  return { isReady: () => isReady, refresh, close: () => subscription.unsubscribe() };
}

/** Any other value counts as released. */
export function decodeLease(bytes: Uint8Array): LeaseValue {
  try {
    const found = JSON.parse(Buffer.from(bytes).toString()) as Partial<LeaseValue>;
    const { holder, epoch, watermarkNanos } = found;
    const isValid =
      typeof holder === 'string' &&
      [epoch, watermarkNanos].every((text) => typeof text === 'string' && /^\d+$/.test(text));
    if (isValid) return found as LeaseValue;
  } catch {
    // Not JSON.
  }
  return untouched.value;
}

export function encodeLease(value: LeaseValue): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
