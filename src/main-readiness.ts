/** Whether this process can do its work, as `/readyz` and load balancers are told. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from './queue/port.ts';
import type { Store } from './store/port.ts';

export interface Readiness {
  /** Fixed words for what is not ready; empty = ready. */
  readonly missing: () => Promise<readonly string[]>;
  /** Is not ready from now on; resolves when others have had the time to notice. */
  leave(noticeSeconds: number): Promise<void>;
}

/** @param queue and `store`: undefined where this process needs none. */
export function createReadiness(
  queue: Pick<Queue, 'status'> | undefined,
  store: Pick<Store, 'ping'> | undefined,
): Readiness {
  let isLeaving = false;
  return {
    missing: async () => [
      ...(isLeaving ? ['running'] : []),
      ...(queue?.status().writable === false ? ['queue'] : []),
      ...(store === undefined || (await store.ping()) ? [] : ['store']),
    ],
    async leave(noticeSeconds) {
      isLeaving = true;
      await sleep(noticeSeconds * 1000);
    },
  };
}
