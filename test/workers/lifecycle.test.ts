/**
 * Workers that are killed or stopped: nothing acknowledged is lost, nothing is stored twice, and no
 * worker is orphaned.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../harness/service.ts';
import { until } from '../harness/until.ts';
import { isAlive, workersOf } from '../harness/weir-process.ts';
import { type Load, startLoad } from './load.ts';

let service: Service;
before(async () => {
  service = await startService({ flags: ['--workers', '2'], expectedErrors: [/worker ended/] });
});
after(() => service.stop());

const workers = () => workersOf(service.process.pid);
const acceptedEvents = async () => (await service.metric('weir_ingest_events_accepted_total')) ?? 0;

function acknowledgedMore({ acknowledged }: Load, count: number): Promise<boolean> {
  const goal = acknowledged.size + count;
  return until(() => acknowledged.size >= goal, { what: `${count} more acknowledgements` });
}

/**
 * Reads every message of the stream, once the queue is empty. Each was sent once: those that were
 * not acknowledged are stored once or not at all.
 */
async function assertStoredOnce({ acknowledged }: Load): Promise<void> {
  await until(async () => (await service.metric('weir_queue_batches')) === 0, {
    what: 'the queue to drain',
  });
  const stored = new Map<string, number>();
  let cursor: string | undefined;
  for (;;) {
    const page = await service.list({ limit: 1000, ...(cursor !== undefined && { cursor }) });
    for (const { message } of page.logs) stored.set(message, (stored.get(message) ?? 0) + 1);
    if (page.logs.length === 0) break;
    cursor = `${page.cursor.timestamp},${page.cursor.logId}`;
  }
  assert.deepEqual(
    [...acknowledged].filter((message) => !stored.has(message)),
    [],
    'acknowledged logs are missing',
  );
  assert.deepEqual(
    [...stored].filter(([, count]) => count > 1),
    [],
    'logs are stored more than once',
  );
}

test('replaces a worker killed under load and loses nothing acknowledged', async () => {
  const load = startLoad(service, 6);
  await acknowledgedMore(load, 20);
  const counted = await acceptedEvents();
  const [victim] = workers();
  assert.ok(victim);
  process.kill(victim, 'SIGKILL');
  await acknowledgedMore(load, 20);
  await until(async () => (await service.metric('weir_workers_running')) === 2, {
    what: 'a new worker',
  });
  assert.ok(!workers().includes(victim));
  await acknowledgedMore(load, 20);
  await load.stop();
  assert.ok((await acceptedEvents()) >= counted + 40, 'the counters of a killed worker are kept');
  await assertStoredOnce(load);
});

test('closes connections in transit to a worker that is killed', async () => {
  const pids = workers();
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  const port = Number(new URL(service.quickstart.ingestUrl).port);
  const sockets = Array.from({ length: 6 }, () => connect(port, '127.0.0.1'));
  const closed = sockets.map((socket) => {
    socket.on('error', () => {});
    return once(socket, 'close');
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const handed = async () => ((await service.metric('weir_workers_connections')) ?? 0) >= 6;
  await until(handed, { what: 'all connections to be handed to workers' });
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await Promise.all(closed);
  await until(async () => (await service.metric('weir_workers_running')) === 2, {
    what: 'other workers',
  });
});

test('workers ignore a signal sent to the whole process group', async () => {
  const pids = workers();
  for (const pid of pids) process.kill(pid, 'SIGINT');
  for (const pid of pids) process.kill(pid, 'SIGTERM');
  assert.equal((await service.postLogs({ message: 'still here' })).status, 202);
  assert.deepEqual(workers(), pids);
  assert.ok(pids.every(isAlive));
});

test('a stop under load ends in-flight requests and keeps what was acknowledged', async () => {
  const load = startLoad(service, 6);
  await acknowledgedMore(load, 20);
  const pids = workers();
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null });
  assert.deepEqual(pids.filter(isAlive), []);
  await load.stop();
  await service.start();
  await assertStoredOnce(load);
});

test('workers exit with a main process killed under load', async () => {
  const load = startLoad(service, 6);
  await acknowledgedMore(load, 20);
  const pids = workers();
  assert.equal(pids.length, 2);
  await service.kill('SIGKILL');
  await load.stop();
  await until(() => !pids.some(isAlive), { what: 'the workers to end' });
  await service.start();
  await assertStoredOnce(load);
});

test('workers exit silently if the main process is killed while they start', async () => {
  await service.kill('SIGTERM');
  const starting = service.launch();
  const pids = await until(() => workers().length === 2 && workers(), { what: 'the workers' });
  starting.kill('SIGKILL');
  // Once all have closed it: workers write to the standard error of their main process.
  await starting.exited;
  await until(() => !pids.some(isAlive), { what: 'the workers to end' });
  const words = starting.logs.filter(({ level }) => level === 0).map(({ raw }) => raw);
  assert.deepEqual(words, []);
  await service.start();
});
