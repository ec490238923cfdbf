/** A worker that opens nothing: it reports ready and answers pings until the channel closes. */
import { Socket } from 'node:net';
import { openChannel } from '../../src/channel/channel.ts';
import { overStream } from '../../src/channel/stream.ts';
import type { MainMethods, WorkerMethods } from '../../src/workers/methods.ts';
import { channelDescriptor } from '../../src/workers/worker-process.ts';

const stream = new Socket({ fd: channelDescriptor, readable: true, writable: true });
const main = openChannel<WorkerMethods, MainMethods>(overStream(stream), {
  ping: () => undefined,
  invalidate: () => undefined,
  forgetSeries: () => undefined,
  flushStatistics: () => undefined,
  metrics: async () => [],
  stop: async () => undefined,
});
main.notify('ready');
await main.closed;
process.exit(0);
