/** What runs behind a service under test: one process, or a set of nodes. */
import type { Quickstart } from './quickstart.ts';
import type { Exit, WeirProcess } from './weir-process.ts';

export interface ServiceNodes {
  /** Contains `quickstart.json` of the first run. */
  readonly dataDir: string;
  /** Settings that a command on that directory needs. */
  readonly env: Readonly<Record<string, string>>;
  /** The node that serves readers; signals go to all. @throws Error when none runs */
  readonly process: WeirProcess;
  /** Every process so far, for its logs. */
  launched(): readonly WeirProcess[];
  /** Engine processes. */
  enginePids(): number[];
  /** Starts without waiting. */
  launch(): WeirProcess;
  /** Starts what does not run; resolves with the addresses. */
  start(): Promise<Quickstart>;
  /** Resolves once all have ended, with the worst exit status. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  isRunning(): boolean;
  /** Ends what still runs and deletes all directories. */
  remove(): Promise<void>;
}

/** Options of every start. */
export interface NodesOptions {
  /** Additional flags of `weir serve`. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Reuses the ports of the first start; default false. */
  readonly arePortsKept?: boolean;
}
