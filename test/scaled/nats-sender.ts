/** Appends batches until stopped, and records which were acknowledged. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from '../../src/queue/port.ts';
import type { Random } from '../queue/random.ts';
import { owner, toBatch } from './nats-queues.ts';

export interface Sender {
  readonly acknowledged: ReadonlySet<string>;
  /** May be stored or not. */
  readonly refused: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Mostly small batches, some in pieces. */
export function openSender(queue: Queue, random: Random): Sender {
  const acknowledged = new Set<string>();
  const refused = new Set<string>();
  let isStopped = false;
  const lane = async (name: number) => {
    for (let index = 0; !isStopped; index++) {
      const text = `${name}/${index}`;
      const bytes = random.chance(0.02) ? 2_500_000 : random.below(2000);
      const streamId = `stream-${name}`;
      try {
        await queue.append(toBatch(text, bytes), { ...owner, streamId });
        acknowledged.add(text);
      } catch {
        refused.add(text);
        await sleep(20);
      }
      await sleep(random.below(10));
    }
  };
  const lanes = Promise.all(Array.from({ length: 6 }, (_, name) => lane(name)));
  return {
    acknowledged,
    refused,
    async stop() {
      isStopped = true;
      await lanes;
    },
  };
}
