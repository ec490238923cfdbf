/**
 * What runs behind a service under test: one process, or a set of them that does the same. The
 * service speaks to its addresses and knows nothing else of it.
 */
import type { Quickstart } from './quickstart.ts';
import type { Exit, WeirProcess } from './weir-process.ts';

export interface ServiceNodes {
  /** Holds `quickstart.json` with the secrets of the first run. */
  readonly dataDir: string;
  /** What a command on that directory has to be told besides. */
  readonly env: Readonly<Record<string, string>>;
  /** The one that serves readers; signals go to all. @throws Error where nothing runs */
  readonly process: WeirProcess;
  /** Every process so far, for their logs. */
  launched(): readonly WeirProcess[];
  /** Processes of the engine. */
  enginePids(): number[];
  /** Starts and waits for nothing. */
  launch(): WeirProcess;
  /** Starts what does not run; resolves with the addresses of this run. */
  start(): Promise<Quickstart>;
  /** Resolves once all are gone, with the worst of their ends. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  isRunning(): boolean;
  /** Ends what still runs, and deletes all directories. */
  remove(): Promise<void>;
}

/** What starts them wants to be told. */
export interface NodesOptions {
  /** Further arguments of `weir serve`. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** True where later starts listen on the ports of the first, as senders expect; default false. */
  readonly arePortsKept?: boolean;
}
