/** A flood: a name, its target ports, and the behaviour of the attacker. */
import type { Quickstart } from '../harness/quickstart.ts';

export type Port = 'ingest' | 'stream';

export interface Target {
  readonly quickstart: Quickstart;
  readonly port: Port;
  /** Whether requests carry a valid token. */
  readonly hasToken: boolean;
  /** Local address of its connections. */
  readonly from: string;
}

/** Counters of the attacker: connections, requests, answers. */
export type Tally = Record<string, number>;

export interface Attack {
  readonly name: string;
  readonly ports: readonly Port[];
  /** Without a token, with one, or both. */
  readonly tokens: readonly boolean[];
  readonly run: (target: Target, stop: AbortSignal) => Promise<Tally>;
}
