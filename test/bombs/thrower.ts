/**
 * A worker thread that sends bombs, so that creating and encrypting them does not delay the thread
 * that watches the service.
 */
import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createHttpClient } from '../harness/http.ts';
import type { Quickstart } from '../harness/quickstart.ts';
import { bombs } from './bombs.ts';
import { send } from './send.ts';

interface Throw {
  /** Names of bombs, sent at once. */
  readonly names: readonly string[];
}

export interface Thrower {
  /** @returns the status of each, in this order; -1 for a broken connection. */
  throw(names: readonly string[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

export function startThrower(quickstart: Quickstart): Thrower {
  const worker = new Worker(new URL('./thrower.ts', import.meta.url), { workerData: quickstart });
  return {
    throw(names) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
      worker.once('error', reject);
      worker.once('message', (statuses: readonly number[]) => {
        worker.off('error', reject);
        resolve(statuses);
      });
      worker.postMessage({ names } satisfies Throw);
      return promise;
    },
    close: async () => void (await worker.terminate()),
  };
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const quickstart = workerData as Quickstart;
  const http = createHttpClient(readFileSync(quickstart.caFile, 'utf8'));
  port.on('message', ({ names }: Throw) => {
    const made = new Map(
      bombs.filter(({ name }) => names.includes(name)).map((bomb) => [bomb.name, bomb.make()]),
    );
    const statuses = names.map((name) =>
      // Connection errors are irrelevant; a missing answer is the result.
      send({ http, quickstart }, made.get(name)!).catch(() => -1),
    );
    void Promise.all(statuses).then((all) => port.postMessage(all));
  });
}
