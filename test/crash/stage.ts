/** What the crash test runs on: the service, and how a part of it is lost and comes back. */
import type { Random } from '../harness/random.ts';
import type { Service } from '../harness/service.ts';

export interface Stage {
  readonly service: Service;
  /** Where senders look for the service after each loss. */
  readonly quickstartFile: string;
  /** What may be struck; what stands there twice is struck twice as often. */
  readonly targets: readonly [string, ...string[]];
  /** Strikes after a random while, and brings back what it struck. */
  strike(target: string, random: Random): Promise<void>;
  /** Resolves once every part says that it can do its work. */
  ready(): Promise<void>;
  close(): Promise<void>;
}
