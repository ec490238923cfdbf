/** Whether this process can do its work, as `/readyz` and load balancers are told. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from '../queue/port.ts';
import type { Store } from '../store/port.ts';

export interface Readiness {
  /** Fixed words for what is not ready; empty = ready. */
  readonly missing: () => Promise<readonly string[]>;
  /** Is not ready from now on; resolves when others have had the time to notice. */
  leave(noticeSeconds: number): Promise<void>;
}

/** The probe is open to all: the store is asked no more often than this. */
const freshMs = 1_000;

/** @param queue and `store`: undefined where this process needs none. */
export function createReadiness(
  queue: Pick<Queue, 'status'> | undefined,
  store: Pick<Store, 'ping'> | undefined,
): Readiness {
  let isLeaving = false;
  const isStoreReady = createRemembered(async () => store === undefined || (await store.ping()));
  return {
    missing: async () => [
      ...(isLeaving ? ['running'] : []),
      ...(queue?.status().writable === false ? ['queue'] : []),
      ...((await isStoreReady()) ? [] : ['store']),
    ],
    async leave(noticeSeconds) {
      isLeaving = true;
      await sleep(noticeSeconds * 1000);
    },
  };
}

/** One question at a time; its answer holds for `freshMs`. */
function createRemembered<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  return () => {
    if (answer === undefined) {
      answer = ask();
      const forget = () => void setTimeout(() => (answer = undefined), freshMs).unref();
      answer.then(forget, forget);
    }
    return answer;
  };
}
