/** The process of a worker: lives for as long as the main process wants it, and no longer. */
import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { collectorFlag } from './collector-flag.ts';
import { openWorker } from './worker.ts';
import { channelDescriptor } from '../workers/worker-process.ts';

setFlagsFromString(collectorFlag);
// A terminal, or a service manager, signals all processes of a Weir: only the main one decides.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

try {
  const stream = new Socket({ fd: channelDescriptor, readable: true, writable: true });
  const worker = await openWorker(stream);
  process.on('message', (id, handle) => worker.take(id as number, handle as Socket | undefined));
  process.exit((await worker.ended) === 'asked' ? 0 : 1);
} catch {
  // The main process was told why, or is gone.
  process.exitCode = 1;
  if (process.connected) process.disconnect?.();
}
