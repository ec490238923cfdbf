/** Options of the engine, with defaults for a small machine. */
import { availableParallelism } from 'node:os';

export interface EngineSettings {
  /** Limit of chDB's allocations, bytes; the resident size is up to 0.5 GiB larger. */
  readonly memoryBytes: number;
  /** Threads of one query. */
  readonly threads: number;
  /** Time limit of one read that sets none itself, seconds. */
  readonly maxExecutionSeconds: number;
  /** Time limit of one insert, seconds. */
  readonly maxInsertSeconds: number;
  /** Time limit of one DDL statement or deletion, seconds. */
  readonly maxHousekeepingSeconds: number;
  /** Limit of one result that is not streamed, bytes before formatting. */
  readonly maxResultBytes: number;
  /** Limit of the data of one INSERT, bytes. */
  readonly maxInsertBytes: number;
  /** Concurrent reads; half, rounded up, for one account. */
  readonly readMembers: number;
  /** Concurrent brief reads, shared in the same way. */
  readonly briefMembers: number;
  /** Queries that wait for a member of one pool; half for one account. */
  readonly maxWaitingQueries: number;
  /** Interval of the probes. */
  readonly heartbeatMillis: number;
  /** Timeout of `/ping`, after which the process is killed; that of `/heartbeat` is triple. */
  readonly hangMillis: number;
  /** Timeout of a start; loading many parts takes time. */
  readonly startMillis: number;
  /** Time for running queries to end when the engine stops. */
  readonly stopMillis: number;
}

/** The engine creates `dataDir`, and no other process may use it. */
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
  briefMembers: 3,
  maxWaitingQueries: 128,
  heartbeatMillis: 2_000,
  hangMillis: 5_000,
  startMillis: 120_000,
  stopMillis: 10_000,
};
