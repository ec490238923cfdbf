/**
 * What the directory's queries need of a database, whichever it is: reads, and writes in a
 * transaction.
 */
import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

export interface Database {
  /** One statement. @throws AppError `unavailable` when the database cannot answer. */
  read<Result>(query: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * All statements of `work` or none; durable when it resolves. Writers take turns.
   * @throws AppError `unavailable`, and whatever `work` throws, after undoing it.
   */
  write<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * The same without taking turns where the database can, for what processes write all the time
   * and in any order, and no grant depends on. `work` may be run again after it was undone.
   */
  writeBeside<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** ISO 8601 UTC. */
  timestamp(): string;
  /** Unix ms by the database's own clock, which is one for all nodes; within a statement. */
  readonly clockMs: RawBuilder<number>;
  close(): Promise<void>;
}
