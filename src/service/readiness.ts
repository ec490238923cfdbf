/** Readiness of this process for `/readyz` and load balancers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from '../queue/port.ts';
import type { Store } from '../store/port.ts';

/** The probe is unauthenticated, so its answers are cached. */
const freshMs = 1_000;

export type Readiness = ReturnType<typeof createReadiness>;

/** @param queue and `store`: undefined if this process needs none. */
export function createReadiness(
  queue: Pick<Queue, 'status'> | undefined,
  store: Pick<Store, 'ping'> | undefined,
) {
  let isLeaving = false;
  const isStoreReady = createCached(async () => store === undefined || (await store.ping()));
  return {
    /** Names of the parts that are not ready; empty = ready. */
    missing: async () => [
      ...(isLeaving ? ['running'] : []),
      ...(queue?.status().writable === false ? ['queue'] : []),
      ...((await isStoreReady()) ? [] : ['store']),
    ],
    /** Reports not ready from now on; resolves after the notice period. */
    async leave(noticeSeconds: number): Promise<void> {
      isLeaving = true;
      await sleep(noticeSeconds * 1000);
    },
  };
}

/** One call at a time; its result is valid for `freshMs`. */
function createCached<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
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
