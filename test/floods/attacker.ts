/** The attacker's process: runs one flood and reports its counters. */
import { setPriority } from 'node:os';
import type { Quickstart } from '../harness/quickstart.ts';
import type { Port, Tally } from './attack.ts';
import { attacks } from './attacks.ts';

export interface Order {
  readonly attack: string;
  readonly port: Port;
  readonly hasToken: boolean;
  readonly seconds: number;
  readonly quickstart: Quickstart;
}

// Lower priority: a remote attacker would not use this machine's CPU.
setPriority(10);

process.once('message', (order: Order) => {
  const { quickstart, port, hasToken, seconds } = order;
  const attack = attacks.find(({ name }) => name === order.attack)!;
  const target = { quickstart, port, hasToken, from: '127.0.0.2' };
  const tell = (tally: Tally) => process.send?.(tally, () => process.exit(0));
  void attack.run(target, AbortSignal.timeout(1000 * seconds)).then(tell);
});
