/** An in-memory store with seeded random failures of every kind. */
import type { Layout, StampedBatch } from '../../src/model/batch.ts';
import { type Store, StoreInsertError } from '../../src/store/port.ts';
import type { Random } from '../queue/random.ts';

export interface Faults {
  /** Probabilities per insert. */
  readonly lostAnswer: number;
  readonly unavailable: number;
  readonly fenceFails: number;
  /** Payloads with this prefix are refused as bad data. */
  readonly badPrefix: string;
  /** With this one, the store crashes before it stores any row. */
  readonly crashPrefix?: string;
}

type Insert = Pick<Store, 'insert' | 'fence' | 'ping' | 'crashes'>;

export class FakeStore implements Insert {
  /** How often each row (batch sequence and row number) was stored. */
  readonly rows = new Map<string, number>();
  readonly inserts: { readonly rows: number; readonly mode: string }[] = [];
  faults: Faults = { lostAnswer: 0, unavailable: 0, fenceFails: 0, badPrefix: '!' };
  isAway = false;
  /** The response waits for this, after the rows are stored. */
  mayAnswer = Promise.resolve();
  /** Inserts sent while an earlier one of the same rows might still land. */
  insertsOverLoose = 0;
  readonly #random: Random;
  #crashes = 0;
  readonly crashes = () => this.#crashes;
  /** Inserts of unknown outcome: they may land until the next fence. */
  #loose: { readonly rows: readonly string[] }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  async insert(
    _layout: Layout,
    batches: readonly StampedBatch[],
    mode: 'all' | 'missing',
  ): Promise<void> {
    const wanted = new Set(batches.flatMap(rowsOf));
    const isOverLoose = this.#loose.some(({ rows }) => rows.some((row) => wanted.has(row)));
    if (isOverLoose) this.insertsOverLoose++;
    await this.#pass();
    if (this.isAway) throw new StoreInsertError('unavailable', 'away');
    const rows = batches.flatMap(rowsOf).filter((row) => mode === 'all' || !this.rows.has(row));
    this.inserts.push({ rows: rows.length, mode });
    const { badPrefix, crashPrefix } = this.faults;
    if (crashPrefix !== undefined && batches.some((batch) => startsWith(batch, crashPrefix))) {
      this.#crashes++;
      throw new StoreInsertError('unknown', 'no answer');
    }
    if (batches.some((batch) => startsWith(batch, badPrefix))) {
      this.#landSome(rows.filter((row) => !row.endsWith('bad')));
      throw new StoreInsertError('data', 'cannot parse row');
    }
    if (this.#random.chance(this.faults.unavailable)) {
      this.#landSome(rows);
      throw new StoreInsertError('unavailable', 'too busy');
    }
    if (this.#random.chance(this.faults.lostAnswer)) {
      this.#loose.push({ rows });
      if (this.#random.chance(0.2)) throw new Error('socket hang up');
      throw new StoreInsertError('unknown', 'no answer');
    }
    this.#land(rows);
    await this.mayAnswer;
  }

  async fence(): Promise<void> {
    await this.#pass();
    if (this.#random.chance(this.faults.fenceFails)) throw new Error('cannot fence');
    for (const { rows } of this.#loose) this.#landSome(rows);
    this.#loose = [];
  }

  async ping(): Promise<boolean> {
    await this.#pass();
    if (this.isAway && this.#random.chance(0.5)) throw new Error('cannot connect');
    return !this.isAway;
  }

  asStore(): Store {
    return this as unknown as Store;
  }

  /** An insert may become several parts: any prefix of its rows may be stored. */
  #landSome(rows: readonly string[]): void {
    this.#land(rows.slice(0, this.#random.below(rows.length + 1)));
  }

  #land(rows: readonly string[]): void {
    for (const row of rows) this.rows.set(row, (this.rows.get(row) ?? 0) + 1);
  }

  #pass(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

function startsWith({ payload }: StampedBatch, prefix: string): boolean {
  return Buffer.from(payload).toString().startsWith(prefix);
}

export function rowsOf(batch: StampedBatch): string[] {
  const isBad = startsWith(batch, '!');
  return Array.from(
    { length: batch.rows },
    (_, row) => `${batch.id.sequence}/${row}${isBad ? 'bad' : ''}`,
  );
}

/** Polls at each turn of the event loop, since the disk and the store are simulated. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
