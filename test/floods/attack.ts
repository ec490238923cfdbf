/** What a flood is: a name, the ports it is aimed at, and what an attacker does until it ends. */
import type { Quickstart } from '../harness/quickstart.ts';

export type Port = 'ingest' | 'stream';

export interface Target {
  readonly quickstart: Quickstart;
  readonly port: Port;
  /** Whether requests carry a token that is good for what they ask. */
  readonly hasToken: boolean;
  /** Local address that connections come from. */
  readonly from: string;
}

/** What an attacker counted, by name: connections, requests, answers. */
export type Tally = Record<string, number>;

export interface Attack {
  readonly name: string;
  readonly ports: readonly Port[];
  /** Whether it is run without a token, with one, or both ways. */
  readonly tokens: readonly boolean[];
  readonly run: (target: Target, stop: AbortSignal) => Promise<Tally>;
}
