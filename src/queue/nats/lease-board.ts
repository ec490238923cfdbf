/**
 * Which writer holds which shard: entries of the leases' bucket, and how long each has not changed
 * by this writer's monotonic clock. Clocks of different machines are never compared.
 */
import type { Bucket } from './bucket.ts';
import type { NatsLink } from './connection.ts';
import { whilePresent } from './publish.ts';

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

/** Of a shard that never had a holder. */
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
    // A lease of this writer without work: an answer was lost, or its reader ended.
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
    const gone = [...this.#writers].filter(([, { changedMs }]) => {
      return nowMs - changedMs >= 5 * this.#leaseMs;
    });
    return gone.map(([id]) => id).filter((id) => id !== this.#me);
  }
}

/** Any other value counts as released. */
export function decodeLease(bytes: Uint8Array): LeaseValue {
  try {
    const found = JSON.parse(Buffer.from(bytes).toString()) as Partial<LeaseValue>;
    const { holder, epoch, watermarkNanos } = found;
    const isWhole =
      typeof holder === 'string' &&
      [epoch, watermarkNanos].every((text) => typeof text === 'string' && /^\d+$/.test(text));
    if (isWhole) return found as LeaseValue;
  } catch {
    // Not JSON.
  }
  return untouched.value;
}

export function encodeLease(value: LeaseValue): Uint8Array {
  return Buffer.from(JSON.stringify(value));
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
      // It may not be stored: only what can be read counts.
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
    const present = link.present();
    const ask = { subjects_filter: filter };
    const info = await whilePresent(present, () => manager.streams.info(stream, ask));
    const writers = Object.keys(info.state.subjects ?? {}).map((it) => it.slice(prefix.length));
    const shards = Array.from({ length: settings.shards }, (_, shard) => `shard.${shard}`);
    const keys = [...shards, ...writers.filter((key) => key !== `writer.${me}`)];
    await Promise.all(keys.map(readEntry));
    for (const id of board.forgottenWriters(performance.now())) {
      const subject = leases.subject(`writer.${id}`);
      await whilePresent(present, () => manager.streams.purge(stream, { filter: subject }));
      board.seeWriter(id, undefined, performance.now());
    }
    isReady = true;
  }

  return { isReady: () => isReady, refresh, close: () => subscription.unsubscribe() };
}
