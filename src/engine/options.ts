/**
 * What the engine can be told, with bounds that fit a small machine. It reads no configuration
 * itself.
 */
import { availableParallelism } from 'node:os';

export interface EngineSettings {
  /**
   * Memory that chDB may allocate, bytes; the process takes up to 0.5 GiB more for code and what is
   * freed late.
   */
  readonly memoryBytes: number;
  /** Threads of one query. */
  readonly threads: number;
  /** Time of one read that sets no limit itself, seconds. */
  readonly maxExecutionSeconds: number;
  /** The same of one insert. */
  readonly maxInsertSeconds: number;
  /** The same of one change to tables or of a deletion. */
  readonly maxHousekeepingSeconds: number;
  /** One answer that is not streamed, bytes before formatting. */
  readonly maxResultBytes: number;
  /** Data of one INSERT, bytes. */
  readonly maxInsertBytes: number;
  /** Reads that run at once; half, rounded up, for one account. */
  readonly readMembers: number;
  /** Queries of one pool that wait for a member, beyond those that run; half for one account. */
  readonly maxWaitingQueries: number;
  /** Between two questions whether the process answers. */
  readonly heartbeatMillis: number;
  /**
   * Silence of the process after which it counts as hanging and is killed; a trivial query has
   * three times as long.
   */
  readonly hangMillis: number;
  /** Until the first answer after a start; opening many parts takes time. */
  readonly startMillis: number;
  /** For queries that still run when the engine is asked to stop. */
  readonly stopMillis: number;
}

/**
 * All but the folder has a default. The folder belongs to the engine alone and is made if it is
 * missing.
 */
export type EngineOptions = { readonly dataDir: string } & Partial<EngineSettings>;

export const engineDefaults: EngineSettings = {
  memoryBytes: 1.25 * 2 ** 30,
  threads: availableParallelism(),
  maxExecutionSeconds: 30,
  maxInsertSeconds: 300,
  maxHousekeepingSeconds: 3_600,
  maxResultBytes: 128 * 2 ** 20,
  maxInsertBytes: 2 ** 30,
  readMembers: 3,
  maxWaitingQueries: 128,
  heartbeatMillis: 2_000,
  hangMillis: 5_000,
  startMillis: 120_000,
  stopMillis: 10_000,
};
