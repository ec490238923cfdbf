/** Hung workers: the process lives and does nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { WorkerEvents } from '../../src/telemetry/node-events.ts';
import type { SharedParts } from '../../src/workers/served-parts.ts';
import { createWorkers, type Workers } from '../../src/workers/supervisor.ts';
import { until } from '../harness/until.ts';
import { isAlive } from '../harness/weir-process.ts';

const ready: number[] = [];
const hung: number[] = [];
let workers: Workers;

before(async () => {
  const unused = () => undefined;
  const events: WorkerEvents = {
    workerReady: (_worker, pid) => void ready.push(pid),
    workerHung: (_worker, pid) => void hung.push(pid),
    workerEnded: unused,
    workerNotStarted: unused,
    workerKilled: unused,
    connectionRefused: unused,
  };
  workers = createWorkers(
    {
      file: fileURLToPath(new URL('./hanging-worker.ts', import.meta.url)),
      start: () => ({ settings: {}, ingestUrl: '', seriesEpoch: 0 }),
      parts: {} as SharedParts,
    },
    { count: 2, maxConnections: 10, stopMs: 5000, pingEveryMs: 20, pingTimeoutMs: 2000 },
    events,
  );
  await workers.start();
});
after(() => workers.close());

test('kills and replaces a hung worker, and leaves the other one running', async () => {
  const [hanging, other] = ready as [number, number];
  process.kill(hanging, 'SIGSTOP');
  await until(() => ready.length === 3, { what: 'a new worker' });
  assert.deepEqual(hung, [hanging]);
  assert.equal(isAlive(hanging), false);
  assert.equal(isAlive(other), true);
  assert.equal(workers.running(), 2);
});
