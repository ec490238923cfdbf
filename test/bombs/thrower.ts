/**
 * A thread that throws bombs when it is told to, so that the one that watches the service is not
 * itself held up by making and encrypting them.
 */
import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createHttpClient } from '../harness/http.ts';
import type { Quickstart } from '../harness/quickstart.ts';
import { bombs } from './bombs.ts';
import { send } from './send.ts';

interface Throw {
  /** Of bombs, thrown all at once. */
  readonly names: readonly string[];
}

export interface Thrower {
  /** @returns the status of each, in the order of the names; -1 where the connection broke. */
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
      // What becomes of a connection says nothing: that there is no answer does.
      send({ http, quickstart }, made.get(name)!).catch(() => -1),
    );
    void Promise.all(statuses).then((all) => port.postMessage(all));
  });
}
