/** A stage: the service under test, and its faults. */
import type { Random } from '../harness/random.ts';
import type { Service } from '../harness/service.ts';

export interface Stage {
  readonly service: Service;
  /** Where senders look up the service. */
  readonly quickstartFile: string;
  /** Whether senders without HTTP can connect. */
  readonly hasSockets?: true;
  /** Possible faults; repeat an entry to double its probability. */
  readonly targets: readonly [string, ...string[]];
  /** Injects faults at random intervals, and repairs them. */
  strike(target: string, random: Random): Promise<void>;
  /** Resolves once every part is ready. */
  ready(): Promise<void>;
  close(): Promise<void>;
}
