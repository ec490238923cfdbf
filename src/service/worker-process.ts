/** Entry of a worker process. It ends with the main process or on request. */
import { Socket } from 'node:net';
import { tuneRuntime } from './process.ts';
import { openWorker } from './worker.ts';
import { channelDescriptor, type HandedConnection } from '../workers/worker-process.ts';

tuneRuntime();
// Terminals and service managers signal the whole process group: the main process decides.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

try {
  const stream = new Socket({ fd: channelDescriptor, readable: true, writable: true });
  const worker = await openWorker(stream);
  process.on('message', (connection, handle) =>
    worker.take(connection as HandedConnection, handle as Socket | undefined),
  );
  process.exit((await worker.ended) === 'asked' ? 0 : 1);
} catch {
  // The main process has the reason, or has ended.
  process.exitCode = 1;
  if (process.connected) process.disconnect?.();
}
