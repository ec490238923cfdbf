/** A worker that takes no connection: it says that it is ready, and answers until it is stopped. */
import { Socket } from 'node:net';
import { openChannel } from '../../src/workers/channel.ts';
import type { MainQuestions, WorkerQuestions } from '../../src/workers/questions.ts';
import { channelDescriptor } from '../../src/workers/worker-process.ts';

const stream = new Socket({ fd: channelDescriptor, readable: true, writable: true });
const main = openChannel<WorkerQuestions, MainQuestions>(stream, {
  alive: () => undefined,
  invalidate: () => undefined,
  forgetSeries: () => undefined,
  flushStatistics: () => undefined,
  metrics: () => [],
  stop: () => undefined,
});
main.tell('ready', null);
await main.closed;
process.exit(0);
