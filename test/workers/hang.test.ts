/** Workers that stand still: their processes live, and do nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { WorkerEvents } from '../../src/telemetry/node-events.ts';
import type { OwnedParts } from '../../src/workers/owner.ts';
import { createWorkers, type Workers, workersDefaults } from '../../src/workers/supervisor.ts';
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
      begin: () => ({ settings: {}, ingestUrl: '', forgotten: 0 }),
      parts: {} as OwnedParts,
    },
    {
      ...workersDefaults,
      count: 2,
      maxConnections: 10,
      stopMs: 5000,
      askEveryMs: 20,
      answerMs: 2000,
    },
    events,
  );
  await workers.start();
});
after(() => workers.close());

test('a worker that stands still is killed and replaced, the other one goes on', async () => {
  const [still, other] = ready as [number, number];
  process.kill(still, 'SIGSTOP');
  await until(() => ready.length === 3, { what: 'another worker' });
  assert.deepEqual(hung, [still]);
  assert.equal(isAlive(still), false);
  assert.equal(isAlive(other), true);
  assert.equal(workers.running(), 2);
});
