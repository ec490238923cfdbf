/**
 * A thread of the engine process that ends the process when its parent is gone. It has its own
 * event loop, so it also works while the main thread hangs in native code.
 */
import { workerData } from 'node:worker_threads';

const pollMillis = 250;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL');
}, pollMillis);
